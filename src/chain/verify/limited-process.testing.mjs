/** Does what it is told, good or bad. */
const jobs = {
  echo: value => value,
  pid: () => process.pid,
  loop: () => {
    for (;;);
  },
  exhaust: () => {
    const kept = []
    for (;;) kept.push(new Array(100_000).fill(kept.length))
  },
  exit: () => process.exit(3)
}

process.on('message', ({ name, value }) => process.send(jobs[name](value)))
process.once('disconnect', () => process.exit())
process.send('ready')
