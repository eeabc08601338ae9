/** Login with an identity provider, and the identities of an account. */
import type { Slice } from '../../core/slice.ts';
import { accounts } from '../accounts/index.ts';
import { sessions } from '../sessions/index.ts';
import { mountIdentities } from './identities-routes.ts';
import { Identities } from './identities.ts';
import { ProviderLogins } from './provider-logins.ts';
import { refusalPage } from './pages.ts';
import { mountOauth } from './routes.ts';

export interface OauthServices {
  readonly identities: Identities;
  readonly providerLogins: ProviderLogins;
}

export const oauth: Slice<OauthServices> = {
  name: 'identity providers',
  service: ({ store, sealer, outbox, instance, apiUrl, log }, use) => {
    const { sessions: logins, challenges } = use(sessions);
    const { signUps } = use(accounts);
    const { providers, homeOrg: newOrg } = instance;
    const deps = { store, sealer, outbox, challenges, signUps, providers, newOrg, apiUrl, log };
    return {
      identities: new Identities({ store }),
      providerLogins: new ProviderLogins({ ...deps, sessions: logins, settings: () => instance.now }),
    };
  },
  routes: (api, services, { publicUrl, log, use }) => {
    mountOauth(api, { ...services, ...use(sessions), publicUrl, log });
    mountIdentities(api, services);
  },
  errorPages: { path: /^\/auth\/oauth\//, page: refusalPage },
};
