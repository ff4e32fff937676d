#!/usr/bin/env node
import { runCommand } from '../dist/command/main.js'

await runCommand(process.argv.slice(2))
