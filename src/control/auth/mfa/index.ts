/** The second factor of an account, and logins that need it. */
import type { Slice } from '../../core/slice.ts';
import { sessions } from '../sessions/index.ts';
import { MfaLogin } from './login.ts';
import { RecoveryCodes } from './recovery-codes.ts';
import { mountMfa } from './routes.ts';
import { Mfa } from './service.ts';

export interface MfaServices {
  readonly mfa: Mfa;
  readonly mfaLogin: MfaLogin;
}

export const secondFactor: Slice<MfaServices> = {
  name: 'second factor',
  service: ({ store, sealer, passwords, outbox, instance }, use) => {
    const { sessions: logins, challenges } = use(sessions);
    const recoveryCodes = new RecoveryCodes({ sealer });
    const deps = { store, sealer, recoveryCodes, outbox };
    return {
      mfa: new Mfa({ ...deps, passwords }),
      mfaLogin: new MfaLogin({ ...deps, challenges, sessions: logins, newOrg: instance.homeOrg }),
    };
  },
  routes: (api, services, { publicUrl, log, use }) => mountMfa(api, { ...services, ...use(sessions), publicUrl, log }),
};
