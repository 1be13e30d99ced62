import { fileStorage } from 'fitting-room/storage/file'

/** Adds 1 to what the others add to, too, and says so each time that it stands; never ends by itself. */
const [folder = ''] = process.argv.slice(2)
const storage = fileStorage(folder)
for (;;) {
  await storage.update('sum', (old) => String(Number(old) + 1))
  process.stdout.write('+')
}
