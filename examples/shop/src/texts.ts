/** What the shop says beside the words of the try-on. */
export interface Texts {
  name: string
  skip: string
  lead: string
  newIn: string
  back: string
  earlier: string
  taking: string
  gone: string
  size: string
  soldOut: string
  onItsOwn: (title: string) => string
  room: string
  youIn: (title: string) => string
  firstLook: (title: string) => string
  preview: string
  finished: string
  yourPhoto: string
  yourLastPhoto: string
  choosePhoto: string
  dropPhoto: string
  useCamera: string
  useLast: string
  useSample: string
  another: string
  spends: string
  unseen: string
  compare: string
  compareHow: string
  comparedAs: (percent: string) => string
  save: string
  share: string
  email: string
  customer: string
  camera: string
  noCamera: string
  shoot: string
  close: string
  uploaded: (sent: string, total: string) => string
  left: (count: number) => string
  demonstration: string
  forget: string
  measure: string
  language: string
}

const en: Texts = {
  name: 'English',
  skip: 'Skip to content',
  lead: 'Pick a piece, add a photo, and see it on you.',
  newIn: 'New in',
  back: 'All pieces',
  earlier: 'Your try-ons so far',
  taking: 'One moment: your try-on is being brought here.',
  gone: 'This try-on is no longer here.',
  size: 'Size',
  soldOut: 'sold out',
  onItsOwn: (title) => `${title}, on its own`,
  room: 'Fitting room',
  youIn: (title) => `You in the ${title}`,
  firstLook: (title) => `A first look at you in the ${title}`,
  preview: 'Preview',
  finished: 'The finished picture',
  yourPhoto: 'Your photo',
  yourLastPhoto: 'Your last photo',
  choosePhoto: 'Choose a photo',
  dropPhoto: 'or drop it here',
  useCamera: 'Use the camera',
  useLast: 'Use my last photo',
  useSample: 'Use a sample photo',
  another: 'Another photo',
  spends: 'Uses one try-on. Your photo is sent to the fitting room’s service.',
  unseen: 'This browser cannot show this file.',
  compare: 'How much of your photo to show',
  compareHow: 'Drag the line to compare.',
  comparedAs: (percent) => `${percent} your photo`,
  save: 'Save the picture',
  share: 'Share the picture',
  email: 'E-mail',
  customer: 'Name (optional)',
  camera: 'Camera',
  noCamera: 'The camera is not available. Please choose a photo instead.',
  shoot: 'Take the photo',
  close: 'Close',
  uploaded: (sent, total) => `${sent} of ${total}`,
  left: (count) => `${count} free try-on${count === 1 ? '' : 's'} left`,
  demonstration: 'A demonstration shop. Garments are drawn; pictures come from the sandbox on this machine.',
  forget: 'Forget me on this device',
  measure: 'The shop may count what becomes of try-ons',
  language: 'Language',
}

const de: Texts = {
  name: 'Deutsch',
  skip: 'Zum Inhalt',
  lead: 'Suchen Sie ein Stück aus, geben Sie ein Foto dazu, und sehen Sie es an sich.',
  newIn: 'Neu eingetroffen',
  back: 'Alle Stücke',
  earlier: 'Ihre Anproben bisher',
  taking: 'Einen Moment: Ihre Anprobe wird hierher geholt.',
  gone: 'Diese Anprobe ist nicht mehr da.',
  size: 'Größe',
  soldOut: 'ausverkauft',
  onItsOwn: (title) => `${title}, für sich allein`,
  room: 'Umkleide',
  youIn: (title) => `Sie, angezogen: ${title}`,
  firstLook: (title) => `Ein erster Blick auf Sie: ${title}`,
  preview: 'Vorschau',
  finished: 'Das fertige Bild',
  yourPhoto: 'Ihr Foto',
  yourLastPhoto: 'Ihr letztes Foto',
  choosePhoto: 'Foto auswählen',
  dropPhoto: 'oder hier ablegen',
  useCamera: 'Kamera benutzen',
  useLast: 'Mein letztes Foto',
  useSample: 'Ein Beispielfoto',
  another: 'Anderes Foto',
  spends: 'Verbraucht eine Anprobe. Ihr Foto wird an den Dienst der Umkleide geschickt.',
  unseen: 'Dieser Browser kann die Datei nicht anzeigen.',
  compare: 'Wie viel von Ihrem Foto zu sehen ist',
  compareHow: 'Ziehen Sie die Linie, um zu vergleichen.',
  comparedAs: (percent) => `${percent} Ihr Foto`,
  save: 'Bild sichern',
  share: 'Bild teilen',
  email: 'E-Mail',
  customer: 'Name (freiwillig)',
  camera: 'Kamera',
  noCamera: 'Die Kamera ist nicht verfügbar. Bitte wählen Sie stattdessen ein Foto aus.',
  shoot: 'Foto machen',
  close: 'Schließen',
  uploaded: (sent, total) => `${sent} von ${total}`,
  left: (count) => `Noch ${count} ${count === 1 ? 'Anprobe' : 'Anproben'} frei`,
  demonstration:
    'Ein Laden zum Vorführen. Die Stücke sind gezeichnet; die Bilder kommen aus dem Sandkasten auf diesem Rechner.',
  forget: 'Mich auf diesem Gerät vergessen',
  measure: 'Der Shop darf zählen, was aus Anproben wird',
  language: 'Sprache',
}

const fr: Texts = {
  name: 'Français',
  skip: 'Aller au contenu',
  lead: 'Choisissez une pièce, ajoutez une photo et voyez-la sur vous.',
  newIn: 'Nouveautés',
  back: 'Toutes les pièces',
  earlier: 'Vos essayages',
  taking: 'Un instant : votre essayage arrive ici.',
  gone: 'Cet essayage n’est plus là.',
  size: 'Taille',
  soldOut: 'épuisé',
  onItsOwn: (title) => `${title}, seul`,
  room: 'Cabine d’essayage',
  youIn: (title) => `Vous, avec : ${title}`,
  firstLook: (title) => `Un premier aperçu de vous : ${title}`,
  preview: 'Aperçu',
  finished: 'L’image définitive',
  yourPhoto: 'Votre photo',
  yourLastPhoto: 'Votre dernière photo',
  choosePhoto: 'Choisir une photo',
  dropPhoto: 'ou la déposer ici',
  useCamera: 'Utiliser l’appareil photo',
  useLast: 'Ma dernière photo',
  useSample: 'Une photo d’exemple',
  another: 'Autre photo',
  spends: 'Utilise un essayage. Votre photo est envoyée au service de la cabine.',
  unseen: 'Ce navigateur ne peut pas afficher ce fichier.',
  compare: 'Quelle part de votre photo montrer',
  compareHow: 'Faites glisser la ligne pour comparer.',
  comparedAs: (percent) => `${percent} votre photo`,
  save: 'Enregistrer l’image',
  share: 'Partager l’image',
  email: 'E-mail',
  customer: 'Nom (facultatif)',
  camera: 'Appareil photo',
  noCamera: 'L’appareil photo n’est pas disponible. Choisissez plutôt une photo.',
  shoot: 'Prendre la photo',
  close: 'Fermer',
  uploaded: (sent, total) => `${sent} sur ${total}`,
  left: (count) => `Encore ${count} essayage${count === 1 ? '' : 's'} gratuit${count === 1 ? '' : 's'}`,
  demonstration:
    'Une boutique de démonstration. Les pièces sont dessinées ; les images viennent du bac à sable de cette machine.',
  forget: 'M’oublier sur cet appareil',
  measure: 'La boutique peut compter ce que deviennent les essayages',
  language: 'Langue',
}

const es: Texts = {
  name: 'Español',
  skip: 'Ir al contenido',
  lead: 'Elige una prenda, añade una foto y mírala puesta.',
  newIn: 'Novedades',
  back: 'Todas las prendas',
  earlier: 'Tus pruebas',
  taking: 'Un momento: tu prueba está llegando.',
  gone: 'Esta prueba ya no está aquí.',
  size: 'Talla',
  soldOut: 'agotada',
  onItsOwn: (title) => `${title}, sin nadie`,
  room: 'Probador',
  youIn: (title) => `Tú, con: ${title}`,
  firstLook: (title) => `Un primer vistazo: ${title}`,
  preview: 'Vista previa',
  finished: 'La imagen definitiva',
  yourPhoto: 'Tu foto',
  yourLastPhoto: 'Tu última foto',
  choosePhoto: 'Elegir una foto',
  dropPhoto: 'o suéltala aquí',
  useCamera: 'Usar la cámara',
  useLast: 'Mi última foto',
  useSample: 'Una foto de ejemplo',
  another: 'Otra foto',
  spends: 'Gasta una prueba. Tu foto se envía al servicio del probador.',
  unseen: 'Este navegador no puede mostrar este archivo.',
  compare: 'Cuánto de tu foto mostrar',
  compareHow: 'Arrastra la línea para comparar.',
  comparedAs: (percent) => `${percent} tu foto`,
  save: 'Guardar la imagen',
  share: 'Compartir la imagen',
  email: 'Correo electrónico',
  customer: 'Nombre (opcional)',
  camera: 'Cámara',
  noCamera: 'La cámara no está disponible. Elige una foto en su lugar.',
  shoot: 'Hacer la foto',
  close: 'Cerrar',
  uploaded: (sent, total) => `${sent} de ${total}`,
  left: (count) => `${count === 1 ? 'Queda' : 'Quedan'} ${count} ${count === 1 ? 'prueba' : 'pruebas'} gratis`,
  demonstration:
    'Una tienda de demostración. Las prendas están dibujadas; las imágenes vienen del entorno de pruebas de este equipo.',
  forget: 'Olvidarme en este dispositivo',
  measure: 'La tienda puede contar en qué quedan las pruebas',
  language: 'Idioma',
}

export const texts = { en, de, fr, es }
