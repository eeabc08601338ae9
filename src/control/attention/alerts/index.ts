/** Alerts: rules of organizations, what they find, and messages about it. */
import { accessKeys } from '../../access-keys/index.ts';
import { certificates } from '../../certificates/index.ts';
import type { Slice } from '../../core/slice.ts';
import { on } from '../../db/events.ts';
import { tunnelsDeleted } from '../../tunnels/events.ts';
import { tunnels } from '../../tunnels/index.ts';
import { forgetAddresses } from './address-rows.ts';
import { AlertEvaluator, EVERY_MS } from './evaluator.ts';
import { FindingSources } from './findings.ts';
import { forgetIncidents } from './incident-rows.ts';
import { mountAlerts } from './routes.ts';
import { noteAttempt } from './rows.ts';
import { Confirmations } from './channels/confirmations.ts';
import { AlertSender } from './channels/sender.ts';
import { Alerts } from './service.ts';

export interface AlertOptions {
  /** May alerts be posted to private addresses (`edge.allow_private_jwks`)? */
  readonly allowPrivateJwks: boolean;
}

export interface AlertServices {
  readonly alerts: Alerts;
  readonly alertEvaluator: AlertEvaluator;
  readonly alertSender: AlertSender;
}

export const alerts: Slice<AlertServices, AlertOptions> = {
  name: 'alerts',
  service: (core, use, { allowPrivateJwks: allowPrivate }) => {
    const { store, sealer, nodes, outbox, emailLimit, edgeDomain, apiUrl: publicUrl, log } = core;
    const postRules = { allowPrivate };
    const sender = new AlertSender({ store, sealer, outbox, emailLimit, postRules, publicUrl, log });
    outbox.watchEnds((email, isTaken) => {
      if (email.kind !== 'alert') return;
      const error = isTaken ? null : 'The mail server did not accept the email.';
      store.inTx((tx) => noteAttempt(tx, email.channelId, error), { relaxed: true });
    });
    const sources = new FindingSources({
      db: store.db,
      nodes,
      maintenance: use(tunnels).inMaintenance,
      spend: use(accessKeys).spend,
      certificates: use(certificates).certificates,
      edgeDomain,
    });
    return {
      alerts: new Alerts({
        store,
        sealer,
        nodes,
        sender,
        postRules,
        confirmations: new Confirmations({ store, outbox, emailLimit }),
      }),
      alertEvaluator: new AlertEvaluator({ store, nodes, sources, log }),
      alertSender: sender,
    };
  },
  routes: (api, services) => mountAlerts(api, services),
  on: ({ alerts: of }) => [on(tunnelsDeleted, (tx, { ids }) => of.tunnelsDeleted(tx, ids))],
  drains: ({ alerts: of }) => [{ kind: 'organization_deleted', drain: of.drain.bind(of) }],
  jobs: ({ alertEvaluator, alertSender }) => [
    { name: 'alert rules', everyMs: EVERY_MS, run: (stopping) => alertEvaluator.run(stopping) },
    { name: 'alert messages', everyMs: 1_000, run: (stopping) => void alertSender.sendDue(stopping) },
  ],
  forget: [forgetIncidents, forgetAddresses],
};
