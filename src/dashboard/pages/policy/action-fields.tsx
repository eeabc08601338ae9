/** The fields of one action. What is wrong stands at its field; what is not changed stays as it was written. */
import { Group, NumberInput, Radio, Stack, TagsInput, TextInput } from '@mantine/core';
import { type Faults, placeOf } from './check.ts';
import type { Action } from './kinds.ts';

export interface FieldsProps<A extends Action = Action> {
  readonly action: A;
  /** Place in the policy. */
  readonly index: number;
  readonly faults: Faults;
  readonly isReadOnly: boolean;
  readonly onChange: (action: Action) => void;
}

export function ActionFields(props: FieldsProps) {
  const { action } = props;
  switch (action.kind) {
    case 'deny':
      return <PathField {...props} action={action} />;
    case 'ip_allow':
    case 'ip_deny':
      return <NetworksField {...props} action={action} />;
    case 'rate_limit':
      return <RateFields {...props} action={action} />;
    case 'jwt_validation':
      return <JwtFields {...props} action={action} />;
    case 'header_set':
    case 'response_header_set':
      return <HeaderFields {...props} action={action} />;
    default:
      action satisfies never;
      return null;
  }
}

type Of<K extends Action['kind']> = FieldsProps<Extract<Action, { kind: K }>>;

function PathField({ action, index, faults, isReadOnly, onChange }: Of<'deny'>) {
  return (
    <TextInput
      label="Path begins with"
      placeholder="/admin"
      value={action.path_prefix}
      error={faults.get(placeOf(index, 'path_prefix'))}
      readOnly={isReadOnly}
      maw={420}
      classNames={{ input: 'culvert-mono' }}
      onChange={({ currentTarget }) => onChange({ ...action, path_prefix: currentTarget.value })}
    />
  );
}

const SPLIT = [',', ' ', ';'];

function NetworksField({ action, index, faults, isReadOnly, onChange }: Of<'ip_allow' | 'ip_deny'>) {
  return (
    <TagsInput
      label="Addresses and networks"
      description="Type one and press Enter, or paste a list: 203.0.113.7, 10.0.0.0/8, 2001:db8::/32"
      value={[...action.networks]}
      error={faults.get(placeOf(index, 'networks'))}
      readOnly={isReadOnly}
      splitChars={SPLIT}
      acceptValueOnBlur
      onChange={(networks) => onChange({ ...action, networks })}
    />
  );
}

function RateFields({ action, index, faults, isReadOnly, onChange }: Of<'rate_limit'>) {
  return (
    <Group gap="xl" align="flex-start">
      <NumberInput
        label="Requests per minute"
        value={action.requests_per_minute}
        error={faults.get(placeOf(index, 'requests_per_minute'))}
        readOnly={isReadOnly}
        allowDecimal={false}
        allowNegative={false}
        thousandSeparator=","
        w={180}
        // An empty field is no number yet: 0 is what check.ts refuses.
        onChange={(value) => onChange({ ...action, requests_per_minute: Number(value) })}
      />
      <Radio.Group
        label="Count"
        value={action.per_client_ip ? 'each' : 'all'}
        onChange={(value) => onChange({ ...action, per_client_ip: value === 'each' })}
      >
        <Group mt={8} gap="lg">
          <Radio value="each" label="per visitor address" disabled={isReadOnly && !action.per_client_ip} />
          <Radio value="all" label="for all visitors" disabled={isReadOnly && action.per_client_ip} />
        </Group>
      </Radio.Group>
    </Group>
  );
}

function JwtFields({ action, index, faults, isReadOnly, onChange }: Of<'jwt_validation'>) {
  const { allowed_issuers: issuers, allowed_audiences: audiences, jwks_url: keys } = action;
  return (
    <Stack gap="sm">
      <Group grow align="flex-start" className="culvert-policy-pair">
        <TagsInput
          label="Issuers (iss)"
          description="Empty: any issuer with a known key"
          placeholder={issuers.length === 0 ? 'https://login.example.com' : ''}
          value={[...issuers]}
          error={faults.get(placeOf(index, 'allowed_issuers'))}
          readOnly={isReadOnly}
          splitChars={SPLIT}
          acceptValueOnBlur
          onChange={(allowed) => onChange({ ...action, allowed_issuers: allowed })}
        />
        <TagsInput
          label="Audiences (aud)"
          description="Empty: any"
          value={[...audiences]}
          error={faults.get(placeOf(index, 'allowed_audiences'))}
          readOnly={isReadOnly}
          splitChars={SPLIT}
          acceptValueOnBlur
          onChange={(allowed) => onChange({ ...action, allowed_audiences: allowed })}
        />
      </Group>
      <TextInput
        label="JWKS URL"
        description={keysWords(action)}
        placeholder="https://login.example.com/.well-known/jwks.json"
        value={keys ?? ''}
        error={faults.get(placeOf(index, 'jwks_url'))}
        readOnly={isReadOnly}
        onChange={({ currentTarget }) =>
          onChange({ ...action, jwks_url: currentTarget.value === '' ? null : currentTarget.value })
        }
      />
    </Stack>
  );
}

function keysWords({ jwks_url: keys, allowed_issuers: issuers }: Extract<Action, { kind: 'jwt_validation' }>): string {
  if (keys !== null) return 'Tokens must be signed by one of these keys.';
  return issuers.some((issuer) => issuer.startsWith('https://'))
    ? 'Empty: found through OpenID discovery of the issuer.'
    : "Empty, without an https issuer: only access tokens of your organization's members are allowed.";
}

function HeaderFields({ action, index, faults, isReadOnly, onChange }: Of<'header_set' | 'response_header_set'>) {
  return (
    <Group grow align="flex-start" className="culvert-policy-pair">
      <TextInput
        label="Header"
        placeholder="X-Tenant"
        value={action.name}
        error={faults.get(placeOf(index, 'name'))}
        readOnly={isReadOnly}
        classNames={{ input: 'culvert-mono' }}
        onChange={({ currentTarget }) => onChange({ ...action, name: currentTarget.value })}
      />
      <TextInput
        label="Value"
        value={action.value}
        error={faults.get(placeOf(index, 'value'))}
        readOnly={isReadOnly}
        classNames={{ input: 'culvert-mono' }}
        onChange={({ currentTarget }) => onChange({ ...action, value: currentTarget.value })}
      />
    </Group>
  );
}
