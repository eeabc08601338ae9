/** Accounts: sign-up, the proof of an address, passwords, profile. */
import { lt } from 'drizzle-orm';
import { forgetRows } from '../../core/retention.ts';
import type { Slice } from '../../core/slice.ts';
import { emailCodes, passwordResets } from '../../db/schema.ts';
import { EmailCodes } from './email-codes.ts';
import { mountPassword } from './password-routes.ts';
import { PasswordReset } from './password-reset.ts';
import { Profile } from './profile.ts';
import { Accounts } from './service.ts';
import { SignUpMemory } from './sign-up-memory.ts';
import { mountSignUp } from './sign-up-routes.ts';
import { SignUp } from './sign-up.ts';
import { forgetUnproven } from './unproven-accounts.ts';

export interface AccountOptions {
  /** Address of the account that the first start makes (`accounts.owner`); null: admin@localhost. */
  readonly owner: string | null;
}

export interface AccountServices {
  readonly accounts: Accounts;
  readonly signUp: SignUp;
  readonly passwordReset: PasswordReset;
  readonly profile: Profile;
  readonly signUps: SignUpMemory;
}

export const accounts: Slice<AccountServices, AccountOptions> = {
  name: 'accounts',
  service: ({ store, sealer, passwords, outbox, emailLimit, apiUrl, instance }, _use, { owner }) => {
    const signUps = new SignUpMemory();
    const codes = new EmailCodes(sealer);
    return {
      accounts: new Accounts({ store, passwords, owner }),
      signUp: new SignUp({ store, passwords, codes, emailLimit, signUps, outbox, instance }),
      passwordReset: new PasswordReset({ store, passwords, emailLimit, signUps, outbox, apiUrl }),
      profile: new Profile({ store }),
      signUps,
    };
  },
  routes: (api, services, { log }) => {
    mountSignUp(api, { ...services, log });
    mountPassword(api, { ...services, log });
  },
  forget: [
    forgetRows(emailCodes, emailCodes.userId, (now) => lt(emailCodes.expiresAt, now)),
    forgetRows(passwordResets, passwordResets.hash, (now) => lt(passwordResets.expiresAt, now)),
    // Behind both: a code or a link that is under way keeps an account.
    forgetUnproven,
  ],
};
