/** State of an authentication, and how its steps lead to one another (auth-steps.tsx). Secrets stay in the step that needs them. */
import type { Schemas } from '../../api/types.ts';
import type { HeadingOrder } from './step.tsx';
import type { Place } from './step-address.ts';

export type LogIn = Schemas['LoginResult'] | Schemas['MfaRequired'];

/** What every step is given. */
export interface AuthFlow {
  readonly order: HeadingOrder;
  /** Shared by all steps, so that it is typed once. */
  readonly email: string;
  readonly setEmail: (email: string) => void;
  readonly go: (place: Place) => void;
  /** With the answer to a login: in, or to the second factor. */
  readonly goOn: (answer: LogIn) => void;
}
