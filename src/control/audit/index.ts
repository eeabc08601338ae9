/** The audit log, for those who may read it. */
import type { Slice } from '../core/slice.ts';
import { mountEvents } from './routes.ts';
import { Events } from './service.ts';

export interface AuditServices {
  readonly events: Events;
}

export const audit: Slice<AuditServices> = {
  name: 'audit',
  service: ({ store }) => ({ events: new Events({ store }) }),
  routes: mountEvents,
};
