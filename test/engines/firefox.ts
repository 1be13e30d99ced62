import { existsSync } from 'node:fs'
import { hangMs } from '../limits.ts'

/** The Firefox that Debian installs; Playwright speaks to it by WebDriver BiDi. */
const executablePath = '/usr/bin/firefox-esr'

export const firefoxIsInstalled = existsSync(executablePath)

/** With a camera that needs no permission and shows a test picture. */
export const firefoxLaunch = {
  channel: 'moz-firefox',
  executablePath,
  timeout: hangMs,
  firefoxUserPrefs: { 'media.navigator.streams.fake': true, 'media.navigator.permission.disabled': true },
}
