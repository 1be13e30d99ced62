import type { Frame } from 'playwright'
import type { BrowserCommand } from 'vitest/node'
import type { Act, WebKit } from '../engines/webkit.ts'

declare module 'vitest/browser' {
  interface BrowserCommands {
    /** Does that at the first element of the selector. */
    act: (act: Act, selector: string) => Promise<void>
  }
}

interface Context {
  /** The tests' own frame, in engines that Playwright knows. */
  frame?(): Promise<Frame>
  webkit?: Promise<WebKit>
}

export const act: BrowserCommand<[Act, string]> = async (context, what, selector) => {
  const { frame, webkit } = context as Context
  if (webkit) return (await webkit).act(what, selector)
  const at = await frame!()
  const element = at.locator(selector)
  const { keyboard, mouse } = at.page()
  if (what === 'key down') await keyboard.down('a')
  else if (what === 'key up') await keyboard.up('a')
  else if (what === 'up') await mouse.up()
  else {
    await element.hover()
    if (what === 'down') await mouse.down()
    else await mouse.wheel(0, 10)
  }
}
