/** What is wanted once there is a job: pages load it when they ask for it. */
export { claim } from './claim.ts'
export { createPictures, pictureTexts } from './pictures.ts'
export { createTeller } from './teller.ts'
export { ticketOf, ticketTexts } from './ticket.ts'
