/**
 * Commands that are pipelined, with one promise for all of their replies: a promise for each would cost more than the
 * replies. A command that fails is retried alone, by the caller's function.
 */
import type { Request } from './pool.ts'
import { type Command, type Reply, ReplyError } from './resp.ts'

export class PipelinedCommands {
  readonly #commands: readonly Command[]
  readonly #again: (command: Command) => Promise<Reply>
  readonly #resolve: (replies: Reply[]) => void
  readonly #reject: (error: unknown) => void
  readonly #replies: Reply[]
  readonly #failed: number[] = []
  #owed: number

  constructor(
    commands: readonly Command[],
    again: (command: Command) => Promise<Reply>,
    resolve: (replies: Reply[]) => void,
    reject: (error: unknown) => void
  ) {
    this.#commands = commands
    this.#again = again
    this.#resolve = resolve
    this.#reject = reject
    this.#replies = new Array(commands.length)
    this.#owed = commands.length
    if (this.#owed === 0) resolve([])
  }

  requests(): Request[] {
    return this.#commands.map((command, i) => new PipelinedCommand(this, i, command))
  }

  replied(i: number, reply: Reply): void {
    if (reply instanceof ReplyError) this.#failed.push(i)
    else this.#replies[i] = reply
    if (--this.#owed === 0) this.#end()
  }

  failed(i: number): void {
    this.#failed.push(i)
    if (--this.#owed === 0) this.#end()
  }

  #end(): void {
    if (this.#failed.length === 0) this.#resolve(this.#replies)
    else this.#repeat().then(this.#resolve, this.#reject)
  }

  async #repeat(): Promise<Reply[]> {
    const replies = await Promise.all(this.#failed.map(i => this.#again(this.#commands[i]!)))
    for (const [at, i] of this.#failed.entries()) this.#replies[i] = replies[at]!
    return this.#replies
  }
}

class PipelinedCommand implements Request {
  readonly #together: PipelinedCommands
  readonly #i: number
  readonly command: Command

  constructor(together: PipelinedCommands, i: number, command: Command) {
    this.#together = together
    this.#i = i
    this.command = command
  }

  replied(reply: Reply): void {
    this.#together.replied(this.#i, reply)
  }

  lost(): void {
    this.#together.failed(this.#i)
  }

  unsent(): void {
    this.#together.failed(this.#i)
  }
}
