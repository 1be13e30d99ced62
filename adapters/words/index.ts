export { createWords, type Announcement, type Texts, type Words } from './words.ts'
