/** A node with the demo's data and a browser before it, for one file of tests. */
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { openBrowser, openPage, type Watched } from './browser.testing.ts'
import { type DemoNode, startDemo } from './node.testing.ts'

export interface Explorer {
  readonly demo: DemoNode
  /** In the page of the file, or in another one, which has a context of its own. */
  open(path: string, options?: BrowserContextOptions): Promise<Watched>
}

/** A browser on a machine that does much else is slow to start. */
const STARTING_MS = 60_000

/** Both are started before the tests of the file; at its end nothing may have gone wrong in any page. */
export const explorer = (options: Readonly<Record<string, unknown>> = {}): Explorer => {
  let demo: DemoNode
  let browser: Browser
  const pages: Watched[] = []
  beforeAll(async () => {
    ;[demo, browser] = await Promise.all([startDemo(options), openBrowser()])
  }, STARTING_MS)
  afterAll(async () => {
    await browser?.close()
    await demo?.close()
    expect(pages.flatMap(({ troubles }) => troubles)).toEqual([])
  })
  const another = async (context: BrowserContextOptions | undefined): Promise<Watched> => {
    const watched = await openPage(browser, demo.url, context)
    pages.push(watched)
    return watched
  }
  return {
    get demo() {
      return demo
    },
    async open(path, context) {
      const watched =
        (context ? undefined : pages.find(({ page }) => !page.isClosed())) ?? (await another(context))
      await watched.page.goto(path)
      return watched
    }
  }
}
