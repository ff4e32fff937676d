/** Whether the process that a lease names is gone. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { ownerOf, processOwners, soleOwner } from './owners.ts'
import { OWNER_LENGTH } from './rows.ts'

const owners = processOwners()

it('this process and its parent are there', () => {
  expect(owners.own).toHaveLength(OWNER_LENGTH)
  expect(owners.isGone(owners.own)).toBe(false)
  expect(owners.isGone(ownerOf(process.ppid))).toBe(false)
})

it('a process that was killed is gone, be its parent not told yet', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  const exit = once(child, 'exit')
  const owner = ownerOf(child.pid!)
  expect(owners.isGone(owner)).toBe(false)
  process.kill(child.pid!, 'SIGKILL')
  // Node asks for it in another turn: until then it is a zombie.
  const end = performance.now() + 10_000
  while (!owners.isGone(owner)) expect(performance.now()).toBeLessThan(end)
  await exit
  expect(owners.isGone(owner)).toBe(true)
})

it('a process that has the id of another is not that one, where it is known when it began', () => {
  expect(owners.isGone(ownerOf(process.pid, 1))).toBe(process.platform === 'linux')
})

it('a process of another host or namespace cannot be judged, nor one that is not named', () => {
  const elsewhere = ownerOf(process.pid, 1)
  elsewhere[0]! ^= 1
  expect(owners.isGone(elsewhere)).toBe(false)
  expect(owners.isGone(new Uint8Array())).toBe(false)
})

it('where one process at a time has the files, all others are gone', () => {
  const [first, second] = [soleOwner(), soleOwner()]
  expect(first.isGone(first.own)).toBe(false)
  expect(first.isGone(second.own)).toBe(true)
  expect(first.isGone(new Uint8Array())).toBe(true)
})
