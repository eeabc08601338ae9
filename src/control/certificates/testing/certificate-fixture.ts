/** A control plane that gets certificates from an authority of the test, with an edge that remembers what it was given. */
import { rmSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import type { AcmeSetup } from '../setup.ts';
import type { UserActor } from '../../core/rules/actor.ts';
import { alpnCertificate } from '../../providers/acme/alpn-certificate.ts';
import { domains } from '../../db/schema.ts';
import type { EdgeCertificate, EdgeChallenge } from '../../../plane/certificates.ts';
import type { Logger } from '../../../base/log.ts';
import { FakeAuthority } from './fake-authority.ts';
import { Plane } from '../../core/testing/plane.ts';

interface Scope {
  after(close: () => void | Promise<void>): void;
}

/** Its names end with this. */
const DOMAIN = 'edge.test';

export class CertificateFixture {
  readonly plane: Plane;
  readonly authority: FakeAuthority;
  /** What the edge shows now. */
  shown: ReadonlyMap<string, EdgeCertificate> = new Map();
  /** How often it was given certificates. */
  pushes = 0;
  challenges: readonly EdgeChallenge[] = [];
  /** TXT records that were published. */
  readonly records = new Set<string>();
  /** What its log said, but for debug lines. */
  readonly said: Array<{ readonly fields: object; readonly message: string }> = [];
  readonly #stop: () => Promise<void>;
  #left: Promise<void> | undefined;

  /** On a folder of its own, or on that of a fixture that was left: a restart. */
  constructor(
    t: Scope,
    authority: FakeAuthority,
    { changes = {}, dataDir }: { changes?: Partial<AcmeSetup>; dataDir?: string } = {},
  ) {
    const acme: AcmeSetup = {
      edgeDomain: DOMAIN,
      serverNames: [],
      challenge: 'http-01',
      domainChallenge: 'http-01',
      directoryUrl: 'https://ca.test/directory',
      email: null,
      maxNewPerWeek: 45,
      plansCount: true,
      authority,
      dns: {
        publish: async ({ name, txtValue }) => void this.records.add(`${name} ${txtValue}`),
        withdraw: async () => {},
      },
      alpnCertificate,
      ...changes,
    };
    this.authority = authority;
    const say = (fields: object, message: string): void => void this.said.push({ fields, message });
    const log: Logger = { error: say, warn: say, info: say, debug: () => {}, child: () => log };
    this.plane = new Plane(dataDir, { acme, edgeDomain: DOMAIN, log });
    authority.now = () => this.plane.now;
    this.#stop = this.certificates.attach({
      setCertificates: (shown) => {
        this.pushes++;
        this.shown = new Map(shown);
      },
      setChallenges: async (list) => {
        this.challenges = list;
      },
    });
    t.after(() => this.leave());
    if (dataDir === undefined) t.after(() => rmSync(this.plane.dataDir, { recursive: true, force: true }));
  }

  static async open(t: Scope, changes: Partial<AcmeSetup> = {}): Promise<CertificateFixture> {
    return new CertificateFixture(t, await FakeAuthority.open(), { changes });
  }

  /** Stops orders and closes the database; the folder stays. May be called twice. */
  async leave(): Promise<void> {
    this.#left ??= this.#stop().then(() => this.plane.control.close());
    await this.#left;
  }

  get certificates() {
    return this.plane.control.certificates;
  }

  /** A live tunnel of this person; its host. */
  tunnel(actor: UserActor, subdomain: string): string {
    this.plane.create(actor, { subdomain });
    return `${subdomain}.${DOMAIN}`;
  }

  /** A verified domain that leads to a tunnel of this person. */
  domain(actor: UserActor, domain: string, tunnelId: string): void {
    const { store } = this.plane.control;
    const { id } = this.plane.control.domains.create(actor, domain);
    store.db.update(domains).set({ verifiedAt: store.clock.now(), tunnelId }).where(eq(domains.id, id)).run();
  }

  /** What an operator sees of this name. */
  row(name: string) {
    const operator = { kind: 'operator', orgId: null, userId: null, label: 'test', ipAddress: '' } as const;
    return this.certificates.list(operator, { after: undefined, limit: 1_000 }).find((one) => one.name === name);
  }

  /** Lets the time pass, and does what is due until no order runs. */
  async pass(ms: number): Promise<void> {
    this.plane.now += ms;
    await this.tend();
  }

  async tend(): Promise<void> {
    this.certificates.tend();
    await this.settle();
  }

  /** Resolves when no order runs. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = this.authority.active > 0 ? 0 : quiet + 1) await setImmediate();
  }
}
