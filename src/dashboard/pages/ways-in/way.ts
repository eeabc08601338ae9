/** Where somebody is on their way in, and how its steps lead to one another (ways.tsx). What is typed in secret lives in the step that needs it. */
import type { Schemas } from '../../api/types.ts';
import type { HeadingOrder } from './step.tsx';

export type Place =
  | { readonly step: 'sign-in'; readonly problem?: string }
  | { readonly step: 'second'; readonly challenge: string }
  | { readonly step: 'sign-up' }
  /** The address waits for its code; the password is for the log-in that follows. */
  | { readonly step: 'confirm'; readonly password: string }
  | { readonly step: 'forgot'; readonly problem?: string }
  | { readonly step: 'sent' };

export type LogIn = Schemas['LoginResult'] | Schemas['MfaRequired'];

/** What every step is given. */
export interface Way {
  readonly order: HeadingOrder;
  /** Nobody should type it twice: all steps share it. */
  readonly email: string;
  readonly setEmail: (email: string) => void;
  readonly go: (place: Place) => void;
  /** With the answer to a log-in: in, or to the second factor. */
  readonly goOn: (answer: LogIn) => void;
}
