/**
 * People and the organizations that they share, over HTTP on the clock of a Plane. Members join as in life: by email.
 */
import assert from 'node:assert/strict';
import { desc } from 'drizzle-orm';
import { outgoingMails } from '../../db/schema.ts';
import type { Role } from '../rules/actor.ts';
import type { Email } from '../mail/emails.ts';
import type { Answer } from './harness.ts';
import { IDLE_NODE } from './idle-node.ts';
import { Plane, VISIT } from './plane.ts';
import { type PlaneApi, servePlane } from './plane-api.ts';

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
  /** The organization that they began with, as its owner; active in their session. */
  readonly home: string;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

export class Team {
  readonly plane: Plane;
  readonly api: PlaneApi;

  constructor(plane: Plane, api: PlaneApi) {
    this.plane = plane;
    this.api = api;
  }

  /** A new account, logged in, with an organization of its own. */
  async person(email: string): Promise<Person> {
    const { accounts, sessions } = this.plane.control;
    const made = await accounts.createUser({ email, name: '', plan: 'enterprise', superadmin: false });
    const done = await sessions.login({ email, password: made.password.reveal() }, VISIT);
    assert.ok('accessToken' in done);
    const token = done.accessToken;
    return {
      id: made.id,
      email,
      password: made.password.reveal(),
      token,
      home: done.activeOrg.id,
      call: (method, path, body) =>
        this.api.call(method, path, { as: token, ...(body === undefined ? {} : { body: body as object }) }),
    };
  }

  /** The same person, logged in again: an access token lives 15 minutes of the clock of the plane. */
  async again(person: Person): Promise<Person> {
    const { email, password } = person;
    const done = await this.plane.control.sessions.login({ email, password }, VISIT);
    assert.ok('accessToken' in done);
    const as = done.accessToken;
    return {
      ...person,
      token: as,
      call: (method, path, body) => this.api.call(method, path, { as, ...(body === undefined ? {} : { body }) }),
    };
  }

  /** Token of the last invitation that was sent to this address. */
  inviteToken(email: string): string {
    const mail = this.emails().find((one) => one.kind === 'invitation' && one.to === email);
    assert.ok(mail?.kind === 'invitation', `no invitation was sent to ${email}`);
    return mail.token;
  }

  /** What waits to be sent, newest first. */
  emails(): readonly Email[] {
    const { store, outbox } = this.plane.control;
    return store.db
      .select()
      .from(outgoingMails)
      .orderBy(desc(outgoingMails.createdAt), desc(outgoingMails.id))
      .all()
      .map((row) => outbox.open(row));
  }

  /** Invites the person to the organization, who accepts. */
  async join(person: Person, org: { readonly id: string; readonly by: Person; readonly role: Role }): Promise<void> {
    const body = { email: person.email, role: org.role };
    const invited = await org.by.call('POST', `/orgs/${org.id}/invitations`, body);
    assert.equal(invited.status, 201, invited.text);
    const accepted = await person.call('POST', '/orgs/invitations/accept', { token: this.inviteToken(person.email) });
    assert.deepEqual([accepted.status, accepted.body['id'], accepted.body['role']], [200, org.id, org.role]);
  }

  /** A new person in the home organization of another. */
  async member(email: string, by: Person, role: Role): Promise<Person> {
    const person = await this.person(email);
    await this.join(person, { id: by.home, by, role });
    return person;
  }

  /** The access token of the same session, after switching to the organization. */
  async acting(person: Person, orgId: string): Promise<string> {
    const done = await person.call('POST', '/auth/switch-org', { org_id: orgId });
    assert.equal(done.status, 200, done.text);
    return String(done.body['access_token']);
  }
}

/** A server with Ann, a viewer of her organization, and Eve, who has another. */
export interface Neighbours {
  readonly plane: Plane;
  readonly api: PlaneApi;
  readonly ann: Person;
  readonly eve: Person;
  /** The viewer's access token. */
  readonly viv: string;
  close(): Promise<void>;
}

export async function startNeighbours(): Promise<Neighbours> {
  const plane = new Plane();
  const api = await servePlane(plane);
  plane.control.nodes.attach(IDLE_NODE);
  const team = new Team(plane, api);
  const ann = await team.person('ann@example.test');
  const eve = await team.person('eve@example.test');
  const viv = await team.acting(await team.member('viv@example.test', ann, 'viewer'), ann.home);
  return {
    ...{ plane, api, ann, eve, viv },
    close: async () => {
      await api.close();
      plane.close();
    },
  };
}

/** Status and code of an answer. */
export function said({ status, body }: Answer): unknown[] {
  return status < 400 ? [status] : [status, body['error']];
}
