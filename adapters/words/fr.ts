import { isJobUnknown, nothingSent } from './protocol-error.ts'
import type { Texts } from './words.ts'

const photos = {
  missing: 'Veuillez choisir votre photo à nouveau.',
  empty: 'Ce fichier est vide. Veuillez choisir une autre photo.',
  type: 'Ce fichier n’est pas une photo utilisable. JPEG, PNG, WebP, HEIC et AVIF conviennent.',
  unreadable: 'Ce fichier n’a pas pu être lu. Veuillez choisir une autre photo.',
  url: 'Cette photo n’a pas d’adresse utilisable.',
  unprepared:
    'Une partie de cette page n’a pas pu être chargée, votre photo n’a donc pas été envoyée. Veuillez réessayer.',
  camera: 'L’appareil photo n’est pas utilisable. Veuillez plutôt choisir une photo.',
} as const

const advice = {
  small: 'Cette photo est très petite.',
  narrow: 'Cette photo est une bande très étroite.',
  dark: 'Cette photo est presque noire.',
  own: 'Cette photo risque de ne pas donner une bonne image.',
} as const

const noAccess = 'La boutique n’a pas accès à la cabine pour le moment.'

/** French. */
export const fr: Texts = {
  language: 'fr',
  titles: {
    restoring: 'Un instant…',
    idle: 'Voyez-le sur vous',
    preparing: 'Nous préparons votre photo',
    submitting: 'Direction la cabine',
    needsEmail: 'Une dernière chose',
    processing: 'Votre essayage est en cours',
    preview: 'C’est presque prêt',
    stalled: ({ problem }) =>
      problem?.kind === 'core' ? 'La cabine ne s’est pas chargée' : 'C’est plus long que d’habitude',
    unauthorized: 'La cabine est fermée pour le moment',
    final: 'Vous voilà',
    failed: 'Cela n’a pas marché',
    outcomeUnknown: 'Nous n’avons pas eu de réponse claire',
    limitReached: 'C’est tout pour le moment',
    rejected: 'Cet essayage n’a pas pu commencer',
    protocolError: (view) => (isJobUnknown(view) ? 'Cet essayage n’est plus connu' : 'La réponse est incompréhensible'),
  },
  sentences: {
    restoring: 'Nous regardons si vous l’essayez déjà.',
    idle: 'Ajoutez une photo de vous, de face. On devrait y voir où cet article se porte.',
    preparing: 'Votre photo est en route.',
    submitting: 'Gardez cette page ouverte un instant.',
    needsEmail: 'La boutique demande votre adresse e-mail avant le prochain essayage.',
    processing: ({ durable }) =>
      `Cela prend en général moins d’une minute.${durable ? ' Vous pouvez quitter cette page : l’essayage continue.' : ''}`,
    preview: 'Voici un premier aperçu. L’image définitive est en route.',
    stalled: ({ attempt, problem }) => {
      if (problem?.kind === 'core') return 'Rien de nouveau n’a été envoyé.'
      return attempt?.jobId
        ? 'Votre essayage peut encore aboutir. Attendre ne coûte rien ; recommencer peut coûter un essayage de plus.'
        : 'Aucun essayage n’a commencé jusqu’ici.'
    },
    unauthorized: ({ attempt, durable }) =>
      `La boutique doit renouveler son accès. ${durable ? 'Votre essayage est conservé' : 'Votre essayage attend ici'}${attempt?.jobId ? ' ; recommencer peut coûter un essayage de plus' : ''}.`,
    final: ({ problem }) => (problem?.kind === 'picture' ? 'Votre essayage est terminé.' : 'Votre image est prête.'),
    failed: 'L’image n’a pas pu être réalisée. Une autre photo conviendra peut-être mieux.',
    outcomeUnknown: 'Votre essayage est peut-être déjà en cours ; réessayer peut coûter un essayage de plus.',
    limitReached: 'Vous avez atteint le nombre d’essayages pour le moment.',
    rejected: 'Rien n’a commencé, et rien n’a été compté.',
    protocolError: (view) =>
      `${isJobUnknown(view) ? 'La cabine ne l’a plus.' : 'Nous avons préféré nous arrêter plutôt que deviner.'} ${nothingSent(view) ? 'Aucun essayage n’a commencé.' : 'Réessayer peut coûter un essayage de plus.'}`,
  },
  intents: {
    start: 'Essayer',
    submitEmail: 'Continuer',
    resume: 'Reprendre',
    retry: 'Réessayer',
    startOver: 'Choisir une autre photo',
    discard: 'Oublier cet essayage',
  },
  intentsIn: {
    idle: { resume: 'Regarder à nouveau' },
    preparing: { startOver: 'Annuler' },
    submitting: { startOver: 'Annuler' },
    needsEmail: { startOver: 'Non merci' },
    processing: { startOver: 'Laisser celui-ci' },
    preview: { startOver: 'Laisser celui-ci' },
    stalled: {
      resume: ({ attempt, problem }) => {
        if (problem?.kind === 'core') return 'Réessayer'
        return attempt?.jobId ? 'Attendre encore' : 'Envoyer maintenant'
      },
      retry: 'Recommencer',
    },
    unauthorized: { resume: 'Essayer maintenant', retry: 'Recommencer' },
    final: { retry: 'Utiliser un essayage de plus' },
    outcomeUnknown: { retry: 'Recommencer' },
    protocolError: { resume: 'Regarder à nouveau', retry: 'Recommencer' },
  },
  problems: {
    refused: ({ operation, status }) => {
      if (operation === 'registerCustomer') return 'Cette adresse n’a pas été acceptée. Veuillez la vérifier.'
      if (operation === 'putPhoto' && status === 415) return photos.type
      return status === 404 ? 'Cette pièce n’est pas encore en cabine.' : 'La cabine n’a pas accepté cette demande.'
    },
    key: noAccess,
    emailRequired: 'La boutique demande d’abord votre adresse e-mail.',
    limitReached: 'Vous avez atteint le nombre d’essayages pour le moment.',
    throttled: 'Il y a beaucoup de monde.',
    unavailable: 'La connexion ne fonctionne pas pour le moment.',
    notSent: 'La connexion ne fonctionne pas pour le moment. Aucun essayage n’a commencé.',
    outcomeUnknown: 'Personne ne peut dire si votre essayage a commencé.',
    protocol: 'La cabine a donné une réponse incompréhensible.',
    interrupted: 'La page s’est fermée avant la réponse. Personne ne peut dire si votre essayage a commencé.',
    jobFailed: 'La cabine n’a pas pu faire une image de cette photo.',
    deadline: 'L’image peut encore aboutir.',
    photo: ({ reason }) => photos[reason],
    photoAdvice: ({ advice: about, message }) =>
      message ?? `${advice[about]} Une autre photo donnera une meilleure image.`,
    input: ({ at }) => {
      if (at === 'baseUrl') return noAccess
      if (at === 'consent.notice') return 'Veuillez d’abord accepter ce qui est dit de votre photo.'
      return at.toLowerCase().includes('email')
        ? 'Veuillez vérifier l’adresse e-mail.'
        : 'Veuillez vérifier votre saisie.'
    },
    deviceLimit: ({ limit }) =>
      limit === 'perShopper'
        ? 'Vous avez fait tous les essayages que cet écran offre à chaque personne.'
        : 'Il y a eu beaucoup d’essayages ici. Revenez un peu plus tard.',
    ticket: ({ reason }) =>
      ({
        noJob: 'Il n’y a encore rien à emporter.',
        broken: 'Ce code n’est pas complet. Veuillez le scanner à nouveau.',
        foreign: 'Ce code est d’une autre boutique.',
        old: 'Ce code est trop ancien.',
        repeated: 'Vous avez déjà cet essayage ici.',
      })[reason],
    picture: ({ reason }) =>
      ({
        none: 'Il n’y a pas encore d’image.',
        gone: 'Cette image n’est plus conservée.',
        unreadable: 'Cette image n’a pas pu être chargée. Veuillez réessayer.',
      })[reason],
    storage: 'Ce navigateur n’a pas pu l’enregistrer ou l’effacer.',
    storageUnreadable: 'Ce navigateur ne nous laisse pas voir si vous l’essayez déjà.',
    recordUnreadable: 'Un essayage plus ancien de cette pièce n’a pas pu être lu. Il est resté tel quel.',
    consentExpired: 'Cela a pris trop de temps : nous nous sommes arrêtés avant de commencer un essayage.',
    notAllowed: 'Ce n’est pas possible pour le moment. Regardez ce qui s’affiche à présent.',
    paidJob: 'Votre essayage est peut-être en cours, et l’oublier ne l’annule pas.',
    stopped: ({ reason }) =>
      reason === 'unanswered'
        ? 'Une autre page ouverte de cette boutique n’a pas répondu. Fermez-la, ou continuez là-bas.'
        : 'Cet essayage s’est terminé ici.',
    core: ({ reload }) =>
      reload
        ? 'Une partie de cette page n’a pas pu être chargée. Veuillez réessayer, ou recharger la page.'
        : 'Une partie de cette page n’a pas pu être chargée. Veuillez réessayer.',
    internal: ({ sent }) =>
      sent
        ? 'Quelque chose s’est cassé. Votre essayage est peut-être en cours ; réessayer peut coûter un essayage de plus.'
        : 'Quelque chose s’est cassé. Aucun essayage n’a commencé.',
  },
  troubles: {
    offline: 'Vous êtes hors ligne. Cela reprendra à votre retour.',
    unavailable: 'La cabine ne répond pas. Cela reprendra tout seul.',
    throttled: 'Il y a beaucoup de monde. Cela reprendra tout seul.',
  },
  progress: {
    upload: (percent) => `${percent} de votre photo sont envoyés`,
    generation: (percent) => `Environ ${percent} de fait`,
  },
  estimate: (seconds) => `Environ ${seconds} secondes en tout`,
  nextTry: (time) => `Prochain essai à ${time}.`,
  despiteAdvice: 'L’utiliser quand même',
  notDurable: 'Ce navigateur ne peut pas enregistrer votre essayage : gardez cette page ouverte.',
  metadataKept: 'Votre photo a été envoyée telle quelle. Elle peut indiquer où et quand elle a été prise.',
}
