/**
 * The one place where both planes meet: a short list of parts (parts/), in the order in which they stand on each other. Called by cli/serve and by
 * tests; knows no command line, no signals and no standard output. A start that fails half way closes what it opened.
 */
import { setTimeout } from 'node:timers/promises';
import { Lifecycle } from '../base/lifecycle.ts';
import { withoutLogged } from '../base/logged-errors.ts';
import type { Settings } from '../config/schema.ts';
import type { Api } from '../control/api/context.ts';
import type { ControlPlane } from '../control/open.ts';
import type { CreatedUser } from '../control/services/accounts/accounts.ts';
import type { NodeAccess } from '../plane/link.ts';
import { DRAIN_MS } from '../wire/messages.ts';
import type { AdminSocket } from './admin-socket.ts';
import { type ApiPart, serveApi } from './parts/api.ts';
import { startBackground } from './parts/background.ts';
import { tendCertificates } from './parts/certificates.ts';
import { openFolder } from './parts/folder.ts';
import { openServices, startNodePart, watchProcess } from './parts/planes.ts';
import { newLate, type Starting } from './parts/starting.ts';
import type { Server, ServerOptions } from './server.ts';
import { startFault } from './start-fault.ts';

export type { Server, ServerOptions } from './server.ts';

/** Starts the server on these settings. Throws when the data folder is in use, a listener can't bind, or a file is not as it must be. */
export async function startServer(settings: Settings, options: ServerOptions): Promise<Server> {
  const life = new Lifecycle();
  const starting = { settings, options, log: withoutLogged(options.log), late: newLate(settings) };
  try {
    return await open(life, starting);
  } catch (error) {
    await life.close();
    throw startFault(error, settings);
  }
}

async function open(life: Lifecycle, starting: Starting): Promise<Server> {
  const operators = await openFolder(life, starting);
  const control = openServices(life, starting);
  const { node, failed, certificates } = await startNodePart(life, starting, control);
  watchProcess(life, starting, control);
  const { apiTls, watch } = await tendCertificates(life, starting, { control, node, certificates });
  const served = await serveApi(life, starting, { control, apiTls });
  const firstOwner = await welcomeOperators(life, operators, { control, app: served.app });
  await startBackground(life, starting, control);
  return {
    addresses: { api: served.api.address, ...node.addresses, metrics: served.metrics },
    apiUrl: starting.late.apiUrl,
    firstOwner,
    unseenOwner: firstOwner === undefined ? control.accounts.unseenOwner() : undefined,
    ownerShown: () => control.accounts.ownerShown(),
    reloadCertificates: () => watch.look(),
    drain: async () => {
      await drain({ ...served, control, node, operators }, starting.options.drainMs ?? DRAIN_MS);
      await life.close();
    },
    close: () => life.close(),
    failed,
  };
}

/** Makes the first account, then serves commands of operators: one of theirs would take its place. */
async function welcomeOperators(
  life: Lifecycle,
  operators: AdminSocket,
  { control, app }: { readonly control: ControlPlane; readonly app: Api },
): Promise<CreatedUser | undefined> {
  // Behind all that may fail: a start that fails must not make an account whose password nobody has seen.
  const firstOwner = await control.accounts.createFirstOwner();
  // Its password is shown once: it must not be that of an account which a power cut takes.
  if (firstOwner !== undefined) await control.store.durable();
  life.onClose('commands of operators', () => operators.cut());
  operators.serve(app);
  return firstOwner;
}

interface Draining extends Pick<ApiPart, 'api' | 'liveFeed'> {
  readonly control: ControlPlane;
  readonly node: NodeAccess;
  readonly operators: AdminSocket;
}

/** A request to the API that never gets whole must not hold up the stop: what is left after `graceMs` is the caller's to cut. */
async function drain({ control, node, api, liveFeed, operators }: Draining, graceMs: number): Promise<void> {
  control.deviceLogins.endWaits();
  control.mailbox.endWaits();
  const patience = new AbortController();
  const over = setTimeout(graceMs, undefined, { signal: patience.signal }).catch(() => undefined);
  const ended = [node.drain(graceMs), liveFeed.end(), api.drain(), operators.drain(), control.forwarder.stop(graceMs)];
  await Promise.race([Promise.all(ended), over]);
  patience.abort();
}
