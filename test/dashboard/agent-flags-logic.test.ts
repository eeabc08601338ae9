/** Access control that an agent sets by flags, as the tunnel's page lists it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentFlags } from '../../src/dashboard/pages/tunnels/agent-flags.ts';

test('agent flags: those that are set have a line each, and none without an agent that sets some', () => {
  assert.deepEqual(agentFlags({ setByAgent: null }), []);
  const setByAgent = {
    allow_cidr: ['10.0.0.0/8', '192.0.2.7'],
    basic_auth: 'ann',
    policy: ['deny'],
    remote_port: 20_017,
    webhook_verify: 'github',
  };
  assert.deepEqual(agentFlags({ setByAgent }), [
    { label: 'Allowed networks', value: '10.0.0.0/8, 192.0.2.7' },
    { label: 'Password, user name', value: 'ann' },
    { label: 'Policy actions', value: 'deny' },
    { label: 'Signed webhooks', value: 'github' },
    { label: 'Public port', value: '20017' },
  ]);
});
