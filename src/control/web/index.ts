/** Pages and probes: the dashboard, the documentation, the API document, health and keys. */
import { accessKeys } from '../access-keys/index.ts';
import { oauth } from '../auth/oauth/index.ts';
import { sessions } from '../auth/sessions/index.ts';
import type { Keys } from '../core/secrets/keys.ts';
import type { Slice } from '../core/slice.ts';
import { operator } from '../operator/index.ts';
import { mountApiReference } from './api-reference-routes.ts';
import { mountDocs } from './docs-routes.ts';
import { mountDocument } from './document-routes.ts';
import { mountPages } from './pages-routes.ts';
import { mountProbes } from './probes-routes.ts';

export const web: Slice<{ readonly keys: Keys }> = {
  name: 'web',
  service: ({ keys }) => ({ keys }),
  routes: (api, { keys }, { use, ...http }) => {
    mountProbes(api, { ...http, ...use(operator), ...use(accessKeys), keys });
    mountPages(api, { ...http, ...use(sessions), ...use(oauth) });
    mountDocument(api, http);
    mountApiReference(api, http);
    mountDocs(api, http);
  },
};
