/** Settings of the server that operators set in the dashboard: mail, identity providers, sign-up, what new organizations start with. */
import type { Slice } from '../../core/slice.ts';
import { InstanceTests } from './checks.ts';
import { mountInstance } from './routes.ts';
import { InstanceService } from './service.ts';

export interface InstanceSliceOptions {
  readonly visitorProvider: 'google' | 'github';
}

export interface InstanceServices {
  readonly instanceService: InstanceService;
  readonly instanceTests: InstanceTests;
}

export const instance: Slice<InstanceServices, InstanceSliceOptions> = {
  name: 'instance',
  service: ({ store, sealer, instance: settings, clock, apiUrl }, _use, { visitorProvider }) => {
    const instanceService = new InstanceService({ store, sealer, instance: settings, visitorProvider });
    return {
      instanceService,
      instanceTests: new InstanceTests({ store, settings: instanceService, clock, apiUrl }),
    };
  },
  routes: (api, services, { publicUrl }) => mountInstance(api, { ...services, publicUrl }),
};
