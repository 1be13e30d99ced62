import { mount } from 'svelte'
import ProductPage from './ProductPage.svelte'

mount(ProductPage, { target: document.getElementById('app') as HTMLElement })
