/**
 * The steps of authentication, and their addresses for the back button, reloads and links: no secret is in them. Pure. For auth-steps.tsx, and for
 * app.tsx, which sends signed-in users elsewhere.
 */

export type Place =
  /** For invited users. */
  | { readonly step: 'choice' }
  | { readonly step: 'login'; readonly problem?: string }
  | { readonly step: 'second'; readonly challenge: string }
  | { readonly step: 'sign-up' }
  /** The address waits for its code; the password is for the login that follows. */
  | { readonly step: 'confirm'; readonly password: string }
  | { readonly step: 'forgot'; readonly problem?: string }
  | { readonly step: 'sent' };

/** A step that has an address of its own. The others stand at the page that was wanted. */
export type Addressed = 'sign-up' | 'forgot' | 'confirm';

export const STEP_PATHS: Readonly<Record<Addressed, string>> = {
  'sign-up': '/signup',
  forgot: '/forgot',
  confirm: '/confirm',
};

const TYPE_AGAIN = 'Log in with the email address and password of your new account. Then enter the code.';

/** The step of an address below `/app`. */
export function stepAt(path: string): Addressed | undefined {
  return (Object.keys(STEP_PATHS) as Addressed[]).find((step) => STEP_PATHS[step] === path);
}

/** Where a place stands; undefined: at the page that was wanted. */
export function addressedStep(place: Place): Addressed | undefined {
  switch (place.step) {
    case 'sign-up':
    case 'forgot':
    case 'confirm':
      return place.step;
    case 'sent':
      return 'forgot';
    default:
      return undefined;
  }
}

/** What to show at the address of `step` when `place` was gone to last, which the back button and a reload know nothing of. */
export function placeAt(step: Addressed | undefined, place: Place): Place {
  if (addressedStep(place) === step) return place;
  if (step === undefined) return { step: 'login' };
  // The code is of no use without the password, which is in no address.
  return step === 'confirm' ? { step: 'login', problem: TYPE_AGAIN } : { step };
}
