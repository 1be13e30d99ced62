import type { ConfigInput } from '@fitting-room/service'

/** Two stores: `main` with everything on, `other` for what must not be reached from it, `bare` with the API only. */
export const suiteConfig: ConfigInput = {
  stores: [
    {
      id: 'main',
      apiKey: 'main-key',
      integrations: { sdk: true, api: true },
      storefront: { apiUrl: 'https://storefront.example/api', publicToken: 'public' },
      email: { freeTryOns: 2 },
      tryOnCap: { max: 4, windowSeconds: 3600, message: 'Come back tomorrow!' },
      credits: 50,
      funnels: [
        { id: 12, funnelType: 'upper_body', generationModel: 'SERVICE_FAST', productIds: ['1001', '1002'] },
        { id: 13, funnelType: 'dress', generationModel: 'SERVICE_PRO', productIds: [] },
      ],
      products: [
        {
          id: '1001',
          title: 'Tee',
          variants: [
            { id: '2001', title: 'M' },
            { id: '2002', title: 'L', available: false },
            { id: '2003', title: 'fails', test: 'jobError' },
            { id: '9007199254740993', title: 'beyond safe integers' },
            { id: '2004', title: 'lost', test: 'answerLost' },
            { id: '2005', title: '500', test: 'errorAfterAccepting' },
            { id: '2006', title: 'malformed', test: 'malformedAnswer' },
            { id: '2007', title: 'throttled', test: 'throttled' },
            { id: '2008', title: 'limit', test: 'limitReached' },
            { id: '2009', title: 'email', test: 'emailRequired' },
            { id: '2010', title: 'key', test: 'keyRevoked' },
          ],
        },
        { id: '1002', title: 'No picture', image: null, variants: [{ id: '2101', title: 'M' }] },
      ],
    },
    {
      id: 'other',
      apiKey: 'other-key',
      integrations: { sdk: false, api: true },
      storefront: { apiUrl: 'https://storefront.example/api', publicToken: 'public' },
      credits: 1,
      funnels: [{ id: 99, funnelType: 'custom', generationModel: 'SERVICE_LIGHT', productIds: ['3001'] }],
      products: [
        {
          id: '3001',
          title: 'Else',
          variants: [
            { id: '4001', title: 'M' },
            { id: '4002', title: 'fails', test: 'jobError' },
          ],
        },
      ],
    },
    { id: 'off', apiKey: 'closed-key', integrations: { sdk: false, api: false }, funnels: [], products: [] },
  ],
  generation: { previewAfterMs: 1000, readyAfterMs: 2000 },
}
