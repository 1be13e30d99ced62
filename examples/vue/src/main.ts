import { createApp } from 'vue'
import ProductPage from './ProductPage.vue'

createApp(ProductPage).mount('#app')
