/** What an organization of a LimitFixture has or did already, put straight into the tables: a thousand requests would take minutes. */
import { uuidv7 } from 'uuidv7';
import {
  domains,
  metricKeys,
  privateNetworks,
  projects,
  reservedSubdomains,
  webhookReceivers,
} from '../../../src/control/db/schema.ts';
import { recordAudit } from '../../../src/control/core/rules/audit.ts';
import type { LimitFixture } from './fixture.ts';

/** So many that there are now, or that were made today and are gone. Beside what every organization begins with. */
export type Filling = readonly [kind: 'live' | 'today', many: number];

export function fill(
  fixture: LimitFixture,
  what: 'project' | 'reserved_subdomain' | 'domain' | 'webhook_receiver' | 'metric_key' | 'network',
  [kind, many]: Filling,
): void {
  const { actor } = fixture.caller();
  const { orgId } = actor;
  fixture.plane.control.store.inTx((tx) => {
    for (let i = 0; i < many; i++) {
      const id = uuidv7();
      const name = `filler-${i}`;
      if (kind === 'today') recordAudit(tx, actor, { action: `${what}.create`, resourceType: what, resourceId: id });
      else if (what === 'project')
        tx.db.insert(projects).values({ id, orgId, slug: name, name, isDefault: false, createdAt: tx.now }).run();
      else if (what === 'domain')
        tx.db
          .insert(domains)
          .values({ id, orgId, domain: `${name}.example.net`, verificationToken: name, createdAt: tx.now })
          .run();
      else if (what === 'webhook_receiver')
        tx.db
          .insert(webhookReceivers)
          .values({ id, orgId, name, validator: 'github', sealedSecret: '', createdAt: tx.now, updatedAt: tx.now })
          .run();
      else if (what === 'metric_key')
        tx.db.insert(metricKeys).values({ id, orgId, name, keyHash: id, createdAt: tx.now }).run();
      else if (what === 'network')
        tx.db
          .insert(privateNetworks)
          .values({
            id,
            orgId,
            name,
            cidr: '10.0.0.0/8',
            dns: [],
            extraAllowedIps: [],
            createdAt: tx.now,
            updatedAt: tx.now,
          })
          .run();
      else tx.db.insert(reservedSubdomains).values({ id, orgId, subdomain: name, createdAt: tx.now }).run();
    }
  });
}
