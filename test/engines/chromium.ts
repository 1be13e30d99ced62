import { existsSync } from 'node:fs'
import chromium from '@sparticuz/chromium'
import { hangMs } from '../limits.ts'

const installed = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const installedPath = installed.find((path) => existsSync(path))

/** What comes with the packages draws no tabs: no page of it is hidden, frozen or kept in the back/forward cache. */
export const chromiumHasTabs = installedPath !== undefined
if (!chromiumHasTabs) console.log('no Chromium with tabs is installed: tests of hidden and cached pages are left out')

/** An installed Chromium or Chrome if there is one, else the one that comes with the packages. */
export async function chromiumLaunch(): Promise<{ executablePath: string; args: string[]; timeout: number }> {
  const executablePath = installedPath ?? (await chromium.executablePath())
  return {
    executablePath,
    timeout: hangMs,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // a camera that needs no permission and shows a test picture
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
    ],
  }
}
