/**
 * The property: whatever is done to tokens, no live session is without a valid grant, and no tunnel is served that its token may not serve;
 * nor is a session cut whose grant is good; and what a session carries counts for its token, also when another serves the tunnel by then. Looked at after each step, when a second's jobs have run.
 */
import assert from 'node:assert/strict';
import type { Answer } from '../../src/control/core/testing/harness.ts';
import { ModelAgent } from './grants-agents.ts';
import { GrantsModel, type ModelToken } from './grants-model.ts';
import { BUSY, type Step } from './grants-steps.ts';
import { ModelTraffic } from './grants-traffic.ts';
import { GrantsFixture, type Held, type Template } from './grants-fixture.ts';

type Do<D extends Step['do']> = Step & { readonly do: D };

/** Carries out the steps. Rejects when the property does not hold. */
export async function runGrants(template: Template, steps: readonly Step[]): Promise<void> {
  const fixture = await GrantsFixture.open(template);
  try {
    const run = new GrantsRun(fixture);
    for (const step of [...BUSY, ...steps]) {
      await run.take(step);
      run.check(step);
    }
    await run.settle();
    run.check({ do: 'wait', ms: 0 });
  } finally {
    await fixture.close();
  }
}

class GrantsRun {
  readonly #fixture: GrantsFixture;
  readonly #model = new GrantsModel();
  readonly #agents: ModelAgent[] = [];
  readonly #traffic = new ModelTraffic();
  /** What agents have asked, decided by the control plane and on its way to the data node. */
  #underWay: { readonly held: Held; readonly answer: Promise<unknown> }[] = [];

  constructor(fixture: GrantsFixture) {
    this.#fixture = fixture;
  }

  /** One step, and then the answers that were under way meanwhile. */
  async take(step: Step): Promise<void> {
    // Agents wait in line behind what is held, and time ends the wait.
    if (['connect', 'claim', 'wait', 'restart', 'restart control'].includes(step.do)) await this.settle();
    const before = this.#underWay.length;
    await this.#do(step);
    if (before > 0) await this.settle();
  }

  #do(step: Step): Promise<void> | void {
    switch (step.do) {
      case 'mint':
        return this.#mint(step);
      case 'mint master':
        return this.#mintMaster(step);
      case 'mint child':
        return this.#mintChild(step);
      case 'rotate':
        return this.#rotate(step);
      case 'revoke':
        return this.#revoke(step);
      case 'cap':
        return this.#cap(step);
      case 'connect':
        return this.#connect(step);
      case 'claim':
        return this.#claim(step);
      case 'carry':
        return this.#carry(step);
      case 'leave':
        return pick(this.#agents, step.agent)?.leave();
      case 'cut':
        return this.#cut(step);
      case 'stop':
      case 'start':
      case 'delete tunnel':
        return this.#changeTunnel(step);
      case 'make project':
      case 'delete project':
        return this.#changeProject(step.do);
      case 'suspend':
      case 'approve':
        return this.#judge(step.do);
      case 'plan':
        return void this.#fixture.control.operatorOrgs.setPlan(this.#fixture.ann, this.#fixture.ann.orgId, step.plan);
      case 'restart':
      case 'restart control':
        return this.#restart(step.do);
      case 'wait':
        return this.#fixture.aSecondLater(step.ms);
      default:
        return step satisfies never;
    }
  }

  /** Lets the answers that are under way arrive. */
  async settle(): Promise<void> {
    for (const { held, answer } of this.#underWay.splice(0)) {
      held.release();
      await answer;
    }
  }

  /** Begins what an agent asks, up to where the control plane has decided: the next step comes before the answer. */
  async #hurry(ask: () => Promise<unknown>): Promise<void> {
    const held = this.#fixture.hold();
    const answer = ask();
    this.#underWay.push({ held, answer });
    await Promise.race([held.decided, answer]);
  }

  check(after: Step): void {
    const { now, gateway, table } = this.#fixture;
    const why = `after ${JSON.stringify(after)}`;
    const byId = new Map(this.#model.tokens.map((token) => [token.id, token]));
    const live = new Set<string>();
    for (const { agentId, tokenId } of gateway.registry.connections()) {
      const token = byId.get(tokenId);
      assert.ok(
        token !== undefined && this.#model.isValid(token, now),
        `${why}: a live session of ${told(token, now)}`,
      );
      live.add(agentId);
      const { exhausted } = gateway.registry.payerOf(tokenId);
      assert.equal(exhausted, this.#model.isBlocked(token), `${why}: the budget of ${told(token, now)}`);
    }
    this.#traffic.look(table.entries(), live);
    const served = new Map<string, number>();
    for (const { route, served: serving } of table.entries()) {
      if (serving === null) continue;
      const token = byId.get(serving.tokenId);
      assert.ok(live.has(serving.agentId), `${why}: ${route.subdomain} is served by a session that is over`);
      assert.ok(
        token !== undefined && this.#model.mayServe(token, route.subdomain),
        `${why}: ${route.subdomain} served by ${told(token, now)}`,
      );
      assert.ok(!route.stopped, `${why}: ${route.subdomain} is stopped and served`);
      assert.ok((route.expiresAt ?? Infinity) > now, `${why}: the time of ${route.subdomain} is over and it is served`);
      served.set(token.id, (served.get(token.id) ?? 0) + 1);
      assert.ok((served.get(token.id) ?? 0) <= token.quota, `${why}: more tunnels than ${told(token, now)} may serve`);
    }
    for (const agent of this.#agents) {
      const { token, sessionId } = agent;
      // Once its token is not valid it is over for good, also when the organization is approved again.
      if (!this.#model.isValid(token, now)) agent.excused = true;
      if (agent.excused || sessionId === undefined) continue;
      assert.ok(live.has(sessionId), `${why}: a session was cut that has ${told(token, now)}`);
    }
  }

  // ------------------------------------------------------------------ tokens

  async #mint({ names, quota, hours }: Do<'mint'>): Promise<void> {
    const body = { name: 'agent', allowedSubdomains: names, tunnelQuota: quota, ttlHours: hours };
    this.#add(await this.#call('POST', '/tokens', body), { kind: 'agent', parent: null, project: null, names, quota });
  }

  async #mintMaster({ days }: Do<'mint master'>): Promise<void> {
    const answer = await this.#call('POST', '/tokens/master', { name: 'master', ttl_days: days });
    this.#add(answer, { kind: 'master', parent: null, project: null, names: [], quota: 0 });
  }

  async #mintChild({ master, project, names, quota, hours }: Do<'mint child'>): Promise<void> {
    const masters = this.#model.tokens.filter(({ kind }) => kind === 'master');
    const parent = master === null ? undefined : pick(masters, master);
    if (master !== null && parent === undefined) return;
    const body = { name: 'child', allowed_subdomains: names, tunnelQuota: quota, ttl_hours: hours };
    const answer = await this.#call('POST', `/projects/${project}/tokens`, body, parent?.apiKey);
    if (answer.status === 200 && parent !== undefined) {
      assert.ok(this.#model.isAlive(parent, this.#fixture.now), `minted by ${told(parent, this.#fixture.now)}`);
    }
    const by = parent === undefined ? null : this.#model.tokens.indexOf(parent);
    this.#add(answer, { kind: 'project', parent: by, project, names, quota });
  }

  async #rotate({ token, graceHours }: Do<'rotate'>): Promise<void> {
    const old = pick(this.#model.tokens, token);
    if (old === undefined) return;
    const { now } = this.#fixture;
    const answer = await this.#call('POST', `/tokens/${old.nonce}/rotate`, { graceHours });
    const heir = this.#add(answer, old);
    if (heir === undefined) return;
    assert.ok(this.#model.isAlive(old, now), `rotated: ${told(old, now)}`);
    const index = this.#model.tokens.indexOf(old);
    if (graceHours === 0) this.#model.revoke(index);
    else this.#model.retire(index, Math.floor(now / 1000) * 1000 + graceHours * 3_600_000);
    const parent = old.parent === null ? undefined : this.#model.tokens[old.parent];
    assert.ok(heir.expiresAt <= now + old.expiresAt - old.issuedAt, 'an heir lives longer than what it replaces');
    assert.ok(parent === undefined || heir.expiresAt <= parent.expiresAt, 'an heir outlives its master key');
  }

  async #revoke({ token }: Do<'revoke'>): Promise<void> {
    const { tokens } = this.#model;
    const doomed = pick(tokens, token);
    if (doomed === undefined) return;
    const answer = await this.#call('DELETE', `/tokens/${doomed.nonce}`);
    assert.equal(answer.status, 200, answer.text);
    this.#model.revoke(tokens.indexOf(doomed));
  }

  async #cap({ token, cents }: Do<'cap'>): Promise<void> {
    const capped = pick(this.#model.tokens, token);
    if (capped === undefined) return;
    const answer = await this.#call('PUT', `/tokens/${capped.nonce}/budget`, { monthlyBudgetUsdCents: cents });
    if (answer.status === 200) this.#model.caps.set(capped.lineage, cents);
  }

  #add(
    answer: Answer,
    like: Pick<ModelToken, 'kind' | 'parent' | 'project' | 'names' | 'quota'> & Partial<ModelToken>,
  ): ModelToken | undefined {
    const { tokens } = this.#model;
    if (answer.status !== 200) return undefined;
    const { kind, parent, project, names, quota } = like;
    const { id, nonce, apiKey, issuedAt, expiresAt } = answer.body;
    const token: ModelToken = {
      ...{ kind, parent, project, names, quota, lineage: like.lineage ?? tokens.length },
      ...{ id: String(id), nonce: String(nonce), apiKey: String(apiKey) },
      issuedAt: Number(issuedAt) * 1000,
      expiresAt: Number(expiresAt) * 1000,
      graceEndsAt: Infinity,
      revoked: false,
    };
    tokens.push(token);
    return token;
  }

  // ------------------------------------------------------------------ agents and tunnels

  async #connect({ token, any, hurried }: Do<'connect'>): Promise<void> {
    const { tokens } = this.#model;
    const shown = pick(any ? tokens : tokens.filter((one) => this.#model.isValid(one, this.#fixture.now)), token);
    if (shown === undefined) return;
    const agent = new ModelAgent(await this.#fixture.connect(), shown);
    this.#agents.push(agent);
    if (hurried) return this.#hurry(() => agent.show());
    const may = this.#model.isValid(shown, this.#fixture.now);
    assert.equal(await agent.show(), may ? 'welcome' : 'bye', told(shown, this.#fixture.now));
  }

  async #claim({ agent: number, name, project, hurried }: Do<'claim'>): Promise<void> {
    const agent = pick(
      this.#agents.filter(({ excused, sessionId }) => !excused && sessionId !== undefined),
      number,
    );
    if (agent === undefined) return;
    const answer = () => agent.claim({ name, project });
    if (hurried) return this.#hurry(answer);
    const isBlocked = this.#model.isBlocked(agent.token);
    const said = await answer();
    if (said?.type !== 'bound' || agent.isRepeated(said)) return;
    assert.ok(!isBlocked, 'a tunnel was bound though nothing may be spent');
  }

  async #carry({ serving: number, cents }: Do<'carry'>): Promise<void> {
    const serving = pick(this.#traffic.carrying, number);
    const token = this.#model.tokens.find(({ id }) => id === serving?.tokenId);
    if (serving === undefined || token === undefined) return;
    this.#model.spend(token, cents);
    await this.#fixture.carry(serving, cents);
    assert.deepEqual(this.#fixture.spent, this.#model.spent, `carried by ${told(token, this.#fixture.now)}`);
  }

  async #cut({ agent }: Do<'leave' | 'cut'>): Promise<void> {
    const doomed = pick(this.#agents, agent);
    if (doomed?.sessionId === undefined) return;
    if ((await this.#call('DELETE', `/connections/${doomed.sessionId}`)).status === 200) doomed.excused = true;
  }

  async #changeProject(what: 'make project' | 'delete project'): Promise<void> {
    if (what === 'make project') await this.#call('POST', '/projects', { slug: 'web', name: 'Web' });
    else if ((await this.#call('DELETE', '/projects/web')).status === 200) this.#model.deleteProject('web');
  }

  async #changeTunnel({ do: what, tunnel }: Do<'stop' | 'start' | 'delete tunnel'>): Promise<void> {
    const { route } = pick([...this.#fixture.table.entries()], tunnel) ?? {};
    if (route === undefined) return;
    if (what === 'delete tunnel') await this.#call('DELETE', `/tunnels/${route.tunnelId}`);
    else await this.#call('POST', `/tunnels/${route.tunnelId}/${what}`);
  }

  // ------------------------------------------------------------------ everything at once

  #judge(verdict: 'suspend' | 'approve'): void {
    const { control, ann } = this.#fixture;
    control.operatorOrgs[verdict](ann, ann.orgId);
    this.#model.approved = verdict === 'approve';
  }

  async #restart(what: 'restart' | 'restart control'): Promise<void> {
    await (what === 'restart' ? this.#fixture.restart() : this.#fixture.restartControl());
    this.#fixture.aSecondLater(0);
    // While the control plane alone starts again, sessions go on.
    if (what === 'restart') for (const agent of this.#agents) agent.excused = true;
  }

  #call(method: string, path: string, body?: object, key?: string): Promise<Answer> {
    return this.#fixture.call(method, path, {
      ...(body === undefined ? {} : { body }),
      ...(key === undefined ? {} : { key }),
    });
  }
}

function pick<T>(things: readonly T[], number: number): T | undefined {
  return things[number % Math.max(1, things.length)];
}

/** A token as a failure shows it. */
function told(token: ModelToken | undefined, now: number): string {
  if (token === undefined) return 'an unknown token';
  const { apiKey: _secret, ...rest } = token;
  return JSON.stringify({ ...rest, endsIn: Math.min(token.expiresAt, token.graceEndsAt) - now });
}
