/**
 * Which names tunnels may have: what is a label, whose it is inside an organization, and how long one rests for others. Asked of the API's
 * service and of claims alike: a rule that holds for one alone is none.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../base/errors.ts';
import { capabilityTokens, projects, restingNames, tunnels } from '../db/schema.ts';
import type { UserActor } from '../core/rules/actor.ts';
import type { MintedToken } from '../access-keys/maker.ts';
import { Plane } from '../core/testing/plane.ts';

const DAY = 24 * 3600_000;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
let plane: Plane;
let ann: UserActor;
let bob: UserActor;
let token: MintedToken;

async function start(): Promise<void> {
  plane = new Plane();
  ann = await plane.person('ann@example.test');
  bob = await plane.person('bob@example.test');
  token = plane.mint(ann, { tunnelQuota: 1000 });
}

const project = (slug: string) => plane.projects.create(ann, { slug, name: slug });

/** The label that the API gives, or the code of its refusal. */
function asked(subdomain: string | undefined, projectSlug?: string, actor = ann): string {
  try {
    return plane.create(actor, { subdomain, projectSlug }).row.label;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

/** The same of a claim. */
async function claimed(subdomain: string | undefined, slug?: string, by = token): Promise<string> {
  const answer = await plane.claim(by, {
    ...(subdomain === undefined ? {} : { subdomain }),
    ...(slug === undefined ? {} : { project: slug }),
  });
  return answer.ok ? answer.route.subdomain : answer.code;
}

/** Deletes the live tunnel with this label. */
function drop(label: string, actor = ann): void {
  const found = plane.control.tunnels.list(actor).find(({ row }) => row.label === label);
  assert.ok(found !== undefined, label);
  plane.control.tunnels.delete(actor, found.row.id);
}

suite('names', () => {
  beforeEach(start);
  afterEach(() => plane.close());

  test('a label has 1 to 63 of a-z, 0-9 and dash, project suffix included, and one spelling', async () => {
    project('web');
    project('w'.repeat(62));
    const longest = 'x'.repeat(59);
    for (const [name, slug, expected] of [
      ['a', undefined, 'a'],
      ['0', undefined, '0'],
      ['a--b', undefined, 'a--b'],
      ['x'.repeat(63), undefined, 'x'.repeat(63)],
      ['x'.repeat(64), undefined, 'invalid_request'],
      ['A', undefined, 'invalid_request'],
      ['Shop', undefined, 'invalid_request'],
      ['-a', undefined, 'invalid_request'],
      ['a-', undefined, 'invalid_request'],
      ['-', undefined, 'invalid_request'],
      ['a.b', undefined, 'invalid_request'],
      ['a_b', undefined, 'invalid_request'],
      ['a b', undefined, 'invalid_request'],
      ['a\n', undefined, 'invalid_request'],
      ['ä', undefined, 'invalid_request'],
      [longest, 'web', `${longest}-web`],
      [`${longest}x`, 'web', 'invalid_request'],
      ['a-', 'web', 'invalid_request'],
      ['-a', 'web', 'invalid_request'],
      ['a', 'w'.repeat(62), 'invalid_request'],
    ] as const) {
      assert.equal(asked(name, slug), expected, `${name} in ${slug}`);
      if (expected === 'invalid_request') {
        assert.equal(await claimed(name, slug), 'invalid_name', `${name} in ${slug}`);
      } else {
        assert.equal(await claimed(name, slug), expected);
      }
    }
    assert.equal(asked(''), 'invalid_request');
    assert.equal(asked('', 'web'), 'invalid_request');
  });

  test('a project whose slug leaves no room for a name says so', async () => {
    project('w'.repeat(62));
    const said = /too long to add a name/;
    assert.throws(() => plane.create(ann, { projectSlug: 'w'.repeat(62) }), { code: 'conflict', message: said });
    const answer = await plane.claim(token, { project: 'w'.repeat(62) });
    assert.ok(!answer.ok);
    assert.equal(answer.code, 'subdomain_not_allowed');
    assert.match(answer.message, said);
    project('w'.repeat(61));
    assert.equal(asked(undefined, 'w'.repeat(61)).length, 63);
  });

  test('tunnel names: system names are refused; with the suffix of a project it is another name', async () => {
    project('shop');
    for (const name of ['www', 'api', 'app', 'admin', 'mail', 'xn--a', 'xn--80ak6aa92e']) {
      assert.equal(asked(name), 'duplicate_name', name);
      assert.equal(await claimed(name), 'duplicate_name', name);
    }
    assert.equal(asked('www', 'shop'), 'www-shop');
    assert.equal(await claimed('api', 'shop'), 'api-shop');
    assert.equal(asked('xn--a', 'shop'), 'duplicate_name', 'it would still look like any other in an address bar');
  });

  test('no name in one project spells a name in another', async () => {
    for (const slug of ['c', 'b-c']) project(slug);
    assert.equal(asked('a-b', 'c'), 'duplicate_name', 'a-b-c is of b-c');
    assert.equal(await claimed('a-b', 'c'), 'duplicate_name');
    assert.equal(asked('a-b-c'), 'duplicate_name', 'nor from the default project');
    assert.equal(asked('x-c'), 'duplicate_name');
    assert.equal(await claimed('x-c'), 'duplicate_name');
    assert.equal(asked('a', 'b-c'), 'a-b-c');
    assert.equal(asked('x', 'c'), 'x-c');
    assert.equal(asked('b-c'), 'duplicate_name', 'b in c');
    assert.equal(asked('b', 'c'), 'b-c');
    assert.equal(asked('c'), 'c', 'a slug alone is the suffix of nothing');
    assert.equal(asked('shop-default'), 'shop-default', 'the default project has no suffix');
    assert.equal(asked('a-b-c', undefined, bob), 'duplicate_name', 'ann serves it');
    assert.equal(asked('z-c', undefined, bob), 'z-c', 'the projects of others say nothing');
  });

  test('a project may be made over names that exist: they stay where they are, also when their agents come back', async () => {
    const route = await plane.bound(token, { subdomain: 'a-web' });
    project('web');
    assert.equal((await plane.bound(token, { subdomain: 'a-web' })).tunnelId, route.tunnelId);
    assert.equal(await claimed('a', 'web'), 'duplicate_name');
    assert.equal(asked('a', 'web'), 'duplicate_name');
    drop('a-web');
    assert.equal(asked('a-web'), 'duplicate_name', 'a new one is of the project');
    assert.equal(asked('a', 'web'), 'a-web');
  });

  test('a deleted project has no names any more', () => {
    project('web');
    assert.equal(asked('a-web'), 'duplicate_name');
    plane.projects.delete(ann, 'web');
    assert.equal(asked('a-web'), 'a-web');
  });

  test('an agent that repeats the full label of its lost tunnel gets that label, not one more suffix', async () => {
    project('web');
    const key = plane.mint(ann, { ttlHours: 100 });
    const route = await plane.bound(key, { project: 'web' });
    assert.match(route.subdomain, /^[a-z]+-[a-z]+-\d{4}-web$/);
    plane.now += DAY - 1;
    assert.equal(plane.control.tunnels.removeUnused(), 0);
    plane.now += 2;
    assert.equal(plane.control.tunnels.removeUnused(), 1);
    const again = await plane.bound(key, {
      subdomain: route.subdomain,
      project: 'web',
      tunnelId: route.tunnelId,
    });
    assert.equal(again.subdomain, route.subdomain);
    assert.notEqual(again.tunnelId, route.tunnelId);
  });

  test('a random name is a whole label, however long the suffix is', async () => {
    for (const length of [5, 41, 42, 50, 55]) {
      const slug = 'w'.repeat(length);
      project(slug);
      for (const label of [asked(undefined, slug), await claimed(undefined, slug)]) {
        assert.match(label, LABEL);
        assert.ok(label.endsWith(`-${slug}`), label);
      }
    }
    const full = 'w'.repeat(62);
    project(full);
    assert.equal(asked(undefined, full), 'conflict');
    assert.equal(await claimed(undefined, full), 'subdomain_not_allowed');
  });

  test('of the names that a key may use it gets one that is free for its project', async () => {
    const other = plane.create(bob, { subdomain: 'taken' });
    plane.create(bob, { subdomain: 'resting' });
    drop('resting', bob);
    project('web');
    plane.create(ann, { subdomain: 'own', projectSlug: 'web' });
    plane.control.reservedSubdomains.create(bob, 'kept');
    const allowedSubdomains = ['www', 'taken', 'resting', 'kept', 'x-web', 'own-web', 'free-1'];
    const key = plane.mint(ann, { allowedSubdomains });
    assert.equal(await claimed(undefined, undefined, key), 'free-1');
    const none = plane.mint(ann, { allowedSubdomains: allowedSubdomains.slice(0, -1) });
    assert.equal(await claimed(undefined, undefined, none), 'subdomain_not_allowed');
    assert.equal(other.row.deletedAt, null);
    const prefixed = plane.mint(ann, { allowedSubdomains: [`${'p'.repeat(57)}-*`, 'ci-*'] });
    assert.match(await claimed(undefined, 'web', prefixed), /^ci-[a-z0-9]{6}-web$/, 'the prefix that has room');
  });

  test('a key of one project opens nothing outside its names', async () => {
    const { id } = project('b-c').row;
    project('c');
    const set = { projectId: id, kind: 'project' as const };
    plane.control.store.inTx(
      ({ db }) => void db.update(capabilityTokens).set(set).where(eq(capabilityTokens.id, token.row.id)).run(),
    );
    assert.equal(await claimed('a'), 'a-b-c');
    assert.equal(await claimed('a-b', 'c'), 'forbidden');
    assert.equal(await claimed('a-b', 'default'), 'forbidden');
    assert.equal(await claimed('x-c'), 'x-c-b-c');
  });
});

suite('rest', () => {
  beforeEach(start);
  afterEach(() => plane.close());

  /** Ways in which ann's organization loses the name `a-web`. */
  const ways: ReadonlyArray<[string, () => void | Promise<void>]> = [
    ['a tunnel that was deleted', () => drop('a-web')],
    [
      'a tunnel that expired and was deleted',
      () => {
        plane.control.store.inTx(
          ({ db, now }) => void db.update(tunnels).set({ expiresAt: now }).where(eq(tunnels.label, 'a-web')).run(),
        );
        assert.equal(plane.control.tunnels.expireDue(), 1);
        drop('a-web');
      },
    ],
    ['a project that was deleted', () => void plane.projects.delete(ann, 'web')],
    [
      'a reserved name that was given up after its tunnel',
      () => {
        const { id } = plane.control.reservedSubdomains.create(ann, 'a-web');
        drop('a-web');
        plane.now += DAY;
        assert.equal(asked('a-web', undefined, bob), 'duplicate_name', 'it is reserved still');
        plane.control.reservedSubdomains.delete(ann, id);
      },
    ],
    [
      'an organization that was deleted',
      async () => {
        // The only one can't be deleted.
        plane.control.organizations.create(ann, 'Other');
        await plane.control.organizations.delete(ann, ann.orgId);
      },
    ],
  ];
  for (const [way, lose] of ways) {
    test(`the name of ${way} is out of reach of others for 24 hours, to the millisecond`, async () => {
      project('web');
      plane.create(ann, { subdomain: 'a', projectSlug: 'web' });
      await lose();
      const lost = plane.now;
      const theirs = plane.mint(bob, { ttlHours: 100 });
      plane.now = lost + DAY - 1;
      assert.equal(asked('a-web', undefined, bob), 'duplicate_name');
      assert.equal(await claimed('a-web', undefined, theirs), 'duplicate_name');
      assert.throws(() => plane.control.reservedSubdomains.create(bob, 'a-web'), { code: 'duplicate_name' });
      plane.now = lost + DAY;
      assert.equal(asked('a-web', undefined, bob), 'a-web');
    });
  }

  test('its own organization has a deleted name back at once, and then it rests no more', async () => {
    assert.equal(asked('shop'), 'shop');
    drop('shop');
    assert.equal(asked('shop'), 'shop');
    assert.equal(plane.control.store.db.select().from(restingNames).all().length, 0);
    drop('shop');
    assert.equal(await claimed('shop'), 'shop');
  });

  test('an expired tunnel keeps its name for as long as it is there', async () => {
    plane.create(ann, { subdomain: 'shop', ttlSeconds: 60 });
    plane.now += 7 * DAY;
    plane.control.tunnels.expireDue();
    assert.equal(asked('shop', undefined, bob), 'duplicate_name');
  });
});

suite('any projects, any names', () => {
  before(start);
  after(() => plane.close());

  // Of few characters and many dashes, so that one is often the end of another.
  const part = fc
    .array(fc.constantFrom('a', 'b', 'b--a'), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join('-'));
  const attempts = fc.record({
    slugs: fc.uniqueArray(part, { maxLength: 5 }),
    tries: fc.array(fc.record({ name: part, at: fc.nat({ max: 5 }) }), { minLength: 1, maxLength: 12 }),
  });

  test('a label is given to the project with the longest slug that it ends with, by the API and by a claim alike', async () => {
    await fc.assert(
      fc.asyncProperty(attempts, async ({ slugs, tries }) => {
        empty();
        insert(slugs);
        for (const { name, at } of tries) {
          const slug = slugs[at];
          const label = slug === undefined ? name : `${name}-${slug}`;
          const owner = slugs.filter((one) => label.endsWith(`-${one}`)).sort((a, b) => b.length - a.length)[0];
          const expected = owner === slug ? label : 'duplicate_name';
          assert.equal(await claimed(name, slug), expected, `${name} in ${slug} of ${slugs}`);
          if (expected === label) drop(label);
          assert.equal(asked(name, slug), expected, `${name} in ${slug} of ${slugs}`);
          if (expected === label) drop(label);
        }
      }),
      { numRuns: 60 },
    );
  });

  /** Nothing but the default project; straight in the tables, for there are many runs. */
  function empty(): void {
    plane.control.store.inTx(({ db }) => {
      db.delete(tunnels).run();
      db.delete(restingNames).run();
      db.delete(projects).where(eq(projects.isDefault, false)).run();
    });
  }

  function insert(slugs: readonly string[]): void {
    plane.control.store.inTx(({ db, now }) => {
      for (const slug of slugs) {
        const row = { id: uuidv7(), orgId: ann.orgId, slug, name: slug, isDefault: false, createdAt: now };
        db.insert(projects).values(row).run();
      }
    });
  }
});
