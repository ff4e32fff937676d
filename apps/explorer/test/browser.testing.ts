/** A real browser, and what every page in it must keep to: no error, no violation of the policy, nothing from outside. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const BUILT = fileURLToPath(new URL('../../../packages/node/dist/explorer/index.html', import.meta.url))
const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

export const openBrowser = async (): Promise<Browser> => {
  if (!existsSync(BUILT)) throw new Error('the explorer is not built: npm run build')
  const executablePath = PROGRAMS.find(existsSync)
  if (!executablePath) throw new Error('chromium is not here: node scripts/services.mjs')
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

export interface Watched {
  readonly page: Page
  /** What went wrong in the page so far. */
  readonly troubles: string[]
}

/** A page of the node at `url`, watched. */
export const openPage = async (
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {}
): Promise<Watched> => {
  const { baseURL = url } = options
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options, baseURL })
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('pageerror', error => troubles.push(`error: ${error.message}`))
  page.on('console', message => {
    // The browser itself reports answers that are not 200; whether those are right is for each test.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      troubles.push(`console: ${message.text()}`)
    }
  })
  page.on('request', request => {
    if (!request.url().startsWith(`${baseURL}/`) && !request.url().startsWith('data:')) {
      troubles.push(`request to elsewhere: ${request.url()}`)
    }
  })
  page.on('dialog', dialog => {
    troubles.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.addInitScript(`
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
      console.error('policy violated:', violatedDirective, blockedURI, sample))`)
  return { page, troubles }
}
