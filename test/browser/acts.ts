import type { FrameLocator, Page } from 'playwright'
import type { BrowserCommand } from 'vitest/node'
import type { Act, WebKit } from '../engines/webkit.ts'

declare module 'vitest/browser' {
  interface BrowserCommands {
    /** Does that at the first element of the selector. */
    act: (act: Act, selector: string) => Promise<void>
  }
}

interface Context {
  /** The page, and in it the tests' own frame, in engines that Playwright knows. */
  page?: Page
  iframe?: FrameLocator
  webkit?: Promise<WebKit>
}

export const act: BrowserCommand<[Act, string]> = async (context, what, selector) => {
  const { page, iframe, webkit } = context as Context
  if (webkit) return (await webkit).act(what, selector)
  const { keyboard, mouse } = page!
  if (what === 'key down') await keyboard.down('a')
  else if (what === 'key up') await keyboard.up('a')
  else if (what === 'up') await mouse.up()
  else {
    // found by what it is, as Firefox may not tell a frame's name
    await iframe!.locator(selector).hover()
    if (what === 'down') await mouse.down()
    else await mouse.wheel(0, 10)
  }
}
