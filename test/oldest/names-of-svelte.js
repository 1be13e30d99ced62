// whose types would stand in for those of the other tests' Svelte
import * as svelte from 'svelte'

export default Object.keys(svelte)
