import { createWords, type Words } from 'fitting-room/words'
import { de } from 'fitting-room/words/de'
import { en } from 'fitting-room/words/en'
import { es } from 'fitting-room/words/es'
import { fr } from 'fitting-room/words/fr'
import { recall, remember } from './remembered.ts'
import { texts, type Texts } from './texts.ts'

type Language = keyof typeof texts

const wordsIn: Record<Language, Words> = {
  en: createWords(en),
  de: createWords(de),
  fr: createWords(fr),
  es: createWords(es),
}
const isLanguage = (name: string | null | undefined): name is Language => name != null && name in texts
const key = 'language'

const preferred = [recall(key), ...navigator.languages.map((tag) => tag.slice(0, 2))]
let language: Language = preferred.find(isLanguage) ?? 'en'

/** What the shop says, in the chosen language. */
export const say = (): Texts => texts[language]

/** What it says of a try-on. */
export const words = (): Words => wordsIn[language]

export const percent = (value: number) => new Intl.NumberFormat(language, { style: 'percent' }).format(value)

export function bytes(count: number): string {
  const [unit, size] = count < 1_000_000 ? ['kilobyte', Math.max(1000, count) / 1000] : ['megabyte', count / 1_000_000]
  const style = { style: 'unit', unit: unit, maximumFractionDigits: unit === 'megabyte' ? 1 : 0 } as const
  return new Intl.NumberFormat(language, style).format(size)
}

/** A switch for all languages; the choice is kept for the next visit. */
export function languageSwitch(select: HTMLSelectElement, onChange: () => void): void {
  select.replaceChildren(
    ...Object.entries(texts).map(([name, { name: label }]) => new Option(label, name, false, name === language)),
  )
  select.onchange = () => {
    if (isLanguage(select.value)) language = select.value
    remember(key, language)
    onChange()
  }
}

/** The page says in which language it is. */
export const declareLanguage = () => void (document.documentElement.lang = language)
