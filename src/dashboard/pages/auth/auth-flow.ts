/** Where somebody is on their way in, and how its steps lead to one another (auth-steps.tsx). What is typed in secret lives in the step that needs it. */
import type { Schemas } from '../../api/types.ts';
import type { HeadingOrder } from './step.tsx';
import type { Place } from './step-address.ts';

export type LogIn = Schemas['LoginResult'] | Schemas['MfaRequired'];

/** What every step is given. */
export interface AuthFlow {
  readonly order: HeadingOrder;
  /** Nobody should type it twice: all steps share it. */
  readonly email: string;
  readonly setEmail: (email: string) => void;
  readonly go: (place: Place) => void;
  /** With the answer to a log-in: in, or to the second factor. */
  readonly goOn: (answer: LogIn) => void;
}
