/** Does what it is told, good or bad. */
const jobs = {
  echo: value => value,
  pid: () => process.pid,
  loop: () => {
    for (;;);
  },
  /** Uses so many milliseconds of processor time. */
  work: milliseconds => {
    const used = () => process.cpuUsage().user + process.cpuUsage().system
    const before = used()
    while (used() - before < milliseconds * 1000);
    return process.pid
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
