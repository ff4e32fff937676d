/** A client of server-sent events, as strict as the standard. */

interface Told {
  event?: string
  id?: string
  data?: string
}

export class LiveClient {
  readonly told: Told[] = []
  lastId: string | undefined
  ended = false
  readonly #abort = new AbortController()

  constructor(url: string, headers: Record<string, string> = {}) {
    void this.#read(url, headers).catch(() => undefined)
  }

  async #read(url: string, headers: Record<string, string>): Promise<void> {
    const response = await fetch(url, { headers, signal: this.#abort.signal })
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk, { stream: true })
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        this.#block(text.slice(0, end))
        text = text.slice(end + 2)
      }
    }
    this.ended = true
  }

  #block(block: string): void {
    const told: Told = {}
    for (const line of block.split('\n')) {
      const [name, value] = line.split(/: (.*)/s)
      if (name === 'event' || name === 'id' || name === 'data') told[name] = value ?? ''
    }
    if (told.id !== undefined) this.lastId = told.id
    if (told.data !== undefined) this.told.push(told)
  }

  get txids(): string[] {
    return this.told.map(({ data }) => JSON.parse(data!).txid)
  }

  close(): void {
    this.#abort.abort()
  }
}
