/** What holds for a tunnel holds for its requests over HTTP/2: policy, budget, end of the tunnel, deadlines, drain. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { suite, test } from 'node:test';
import { hashSync } from '@node-rs/argon2';
import { testGrant } from '../../fixtures/link.ts';
import { HTTP2_ENGINES } from '../testing/http2-engines.ts';
import { Http2Visitor, readAnswer } from '../testing/http2-visitor.ts';
import { httpOrigin, perHead, Rig, rawOrigin } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const hash = (password: string): string => hashSync(password, { memoryCost: 1_024, timeCost: 1, parallelism: 1 });

for (const http2 of HTTP2_ENGINES)
  suite(`HTTP/2 (${http2})`, () => {
    test(
      'steps that decide at once and steps that take their time are asked, and others go on meanwhile',
      WITHIN,
      async (t) => {
        const rig = await Rig.start(t, { http2 });
        const asked: string[] = [];
        const origin = await httpOrigin(t, (request, response) => {
          asked.push(`${request.method} ${request.url} ${request.headers['x-set'] ?? ''}`);
          response.end('in');
        });
        await rig.serve('shop', origin.port);
        rig.route('shop', {
          gate: { username: 'ann', passwordHash: hash('open sesame'), version: '1' },
          policy: {
            setAt: 1,
            actions: [
              { kind: 'deny', pathPrefix: '/admin', enforce: true },
              { kind: 'header_set', name: 'x-set', value: 'by policy', enforce: true },
              { kind: 'response_header_set', name: 'X-Frame', value: 'DENY', enforce: true },
            ],
          },
        });
        const visitor = await Http2Visitor.open(t, rig);
        const right = { authorization: `Basic ${Buffer.from('ann:open sesame').toString('base64')}` };
        const wrong = { authorization: `Basic ${Buffer.from('ann:x').toString('base64')}` };
        const [none, bad, good, denied] = await Promise.all([
          visitor.ask({}),
          visitor.ask(wrong),
          visitor.ask({ ':method': 'POST', ':path': '/a', ...right }, 'body'),
          visitor.ask({ ':path': '/%61dmin', ...right }),
        ]);
        assert.deepEqual([none.status, bad.status, good.status, denied.status], [401, 401, 200, 403]);
        assert.match(String(none.headers['www-authenticate']), /^Basic /);
        assert.equal(good.headers['x-frame'], 'DENY');
        assert.deepEqual(asked, ['POST /a by policy']);
        // Gone before its password was checked.
        const gone = visitor.stream({
          ':path': '/gone',
          authorization: `Basic ${Buffer.from('ann:y').toString('base64')}`,
        });
        gone.close(8);
        assert.equal((await visitor.ask(right)).body, 'in');
      },
    );

    test('a tunnel that ends, and a budget that is spent, end what is under way', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      const origin = await httpOrigin(t, (request, response) => {
        if (request.url === '/begun') response.write('x');
        origin.emit('asked');
      });
      await rig.serve('shop', origin.port);
      const visitor = await Http2Visitor.open(t, rig);
      const waiting = visitor.ask({ ':path': '/waiting' });
      await once(origin, 'asked');
      const begun = visitor.ask({ ':path': '/begun' });
      await once(origin, 'asked');
      rig.remove('shop');
      await assert.rejects(begun, /reset 2/);
      assert.equal((await waiting).headers['culvert-error'], 'tunnel_offline');
      assert.equal((await visitor.ask({})).headers['culvert-error'], 'tunnel_not_found', 'the connection goes on');
    });

    test('a budget of 0 lets nothing pass', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      const month = new Date().toISOString().slice(0, 7);
      const budgets = [{ accountId: 'a', month, spentCents: 0, capCents: 0 }];
      rig.link.grants.set('good', testGrant('token-1', { tunnelQuota: 50, budgets }));
      await rig.serve('shop', 9);
      const visitor = await Http2Visitor.open(t, rig);
      assert.equal((await visitor.ask({})).headers['culvert-error'], 'budget_exhausted');
    });

    test(
      'deadlines hold for each stream: a body that stands still, a service that does not answer',
      WITHIN,
      async (t) => {
        const rig = await Rig.start(t, { http2, limits: { bodyIdleTimeoutSeconds: 1, localTimeoutSeconds: 1 } });
        const origin = await httpOrigin(t, () => undefined);
        await rig.serve('shop', origin.port);
        const visitor = await Http2Visitor.open(t, rig);
        const upload = visitor.stream({ ':method': 'POST' }, false);
        upload.write('half');
        const [still, silent] = await Promise.all([readAnswer(upload), visitor.ask({})]);
        assert.deepEqual([still.status, still.headers['culvert-error']], [408, 'request_timeout']);
        assert.deepEqual([silent.status, silent.headers['culvert-error']], [504, 'local_timeout']);
      },
    );

    test('a kept connection that the service has closed costs no visitor an error', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      const origin = await rawOrigin(
        t,
        perHead((socket, _head, count) => {
          if (count % 2 === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
          else socket.destroy();
        }),
      );
      await rig.serve('shop', origin.port);
      const visitor = await Http2Visitor.open(t, rig);
      for (let i = 0; i < 6; i++) assert.equal((await visitor.ask({})).body, 'ok');
    });

    test('a drain says so, finishes what is under way, and takes nothing new', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      let pending: ServerResponse | undefined;
      const origin = await httpOrigin(t, (_request: IncomingMessage, response) => {
        pending = response;
        origin.emit('asked');
      });
      await rig.serve('shop', origin.port);
      const idle = await Http2Visitor.open(t, rig);
      const busy = await Http2Visitor.open(t, rig);
      const answer = busy.ask({});
      await once(origin, 'asked');
      const told = once(busy.session, 'goaway');
      const idleClosed = once(idle.session, 'close');
      const drained = rig.node.drain(10_000);
      assert.equal((await told)[0], 0, 'NO_ERROR');
      await idleClosed;
      pending?.end('late');
      assert.equal((await answer).body, 'late');
      await drained;
      assert.equal(rig.node.stats().connections.http, 0);
    });
  });
