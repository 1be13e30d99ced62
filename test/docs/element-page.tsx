/** What element.md declares, as a page of TSX uses it. */
export const Page = () => (
  <fitting-room-try-on base-url="/api" api-key="sandbox-key" product-id="1001" variant-id="2001" funnel-ids="11">
    <p slot="busy">One moment</p>
  </fitting-room-try-on>
)
