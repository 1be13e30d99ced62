import { useTryOn } from '../../adapters/solid.ts'

export default function View(props) {
  const view = useTryOn(() => props.of)
  return (
    <p data-view="" data-value={view()}>
      {view()}
    </p>
  )
}
