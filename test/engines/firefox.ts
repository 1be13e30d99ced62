import { existsSync } from 'node:fs'
import { hangMs } from '../limits.ts'

/** The Firefox that Debian installs; Playwright speaks to it by WebDriver BiDi. */
const executablePath = '/usr/bin/firefox-esr'

export const firefoxIsInstalled = existsSync(executablePath)
export const firefoxLaunch = { channel: 'moz-firefox', executablePath, timeout: hangMs }
