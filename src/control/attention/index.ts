/** What needs attention in an organization, and for operators on the server: read from the tables of other slices, nothing is stored. */
import { accessKeys } from '../access-keys/index.ts';
import { certificates } from '../certificates/index.ts';
import type { Slice } from '../core/slice.ts';
import { operator } from '../operator/index.ts';
import { webhooks } from '../webhooks/index.ts';
import { mountAttention } from './routes.ts';
import { Attention } from './service.ts';

interface AttentionServices {
  readonly attention: Attention;
}

export const attention: Slice<AttentionServices> = {
  name: 'attention',
  service: ({ store, nodes }, use) => {
    const { spend } = use(accessKeys);
    const { certificates: ofCertificates } = use(certificates);
    const { health } = use(operator);
    const { forwarder } = use(webhooks);
    return { attention: new Attention({ store, nodes, spend, certificates: ofCertificates, health, forwarder }) };
  },
  routes: (api, services) => mountAttention(api, services),
};
