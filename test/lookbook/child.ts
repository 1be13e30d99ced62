import { Pool } from 'pg'
import { openRunner } from 'fitting-room/runner'

/** One process of many that carry a lookbook out, until it is killed. */
const { connectionString, baseUrl, atOnce } = JSON.parse(process.env['LOOKBOOK'] ?? '') as {
  connectionString: string
  baseUrl: string
  atOnce: number
}
const database = new Pool({ connectionString })
const runner = await openRunner({ database, baseUrl, apiKey: 'sandbox-key', onError: () => {} })
await runner.run({ atOnce })
process.stdout.write('runs\n')
