/** The cells of the table of keys. */
import { Anchor, Badge, Group, Progress, Stack, Text } from '@mantine/core';
import type { Token } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { moneyText } from '../../parts/format.ts';
import { nowSeconds } from './key-query.ts';
import { idOf, KIND_WORDS, limitsText, servingText, spentPart, stateOf } from './key-state.ts';

interface CellProps {
  readonly token: Token;
}

interface NameCellProps extends CellProps {
  readonly parent: string | undefined;
  /** It has replaced one that works on. */
  readonly isNew: boolean;
  readonly onOpen: (token: Token) => void;
}

export function NameCell({ token, parent, isNew, onOpen }: NameCellProps) {
  return (
    <Stack gap={2}>
      <Group gap={6}>
        <Anchor component="button" type="button" ta="start" fw={600} size="sm" onClick={() => onOpen(token)}>
          {token.name}
        </Anchor>
        <Badge variant="default" tt="none" fw={500} size="sm">
          {KIND_WORDS[token.kind]}
        </Badge>
      </Group>
      <Text size="xs" c="dimmed" span>
        <span className="culvert-mono">{idOf(token)}</span>
        {isNew && ', the new one'}
        {parent !== undefined && `, created by ${parent}`}
      </Text>
    </Stack>
  );
}

/** How many names are listed; the rest is counted. */
const SHOWN = 3;

export function ScopeCell({ token }: CellProps) {
  const { kind, allowedSubdomains: names, projectSlug } = token;
  const some = names.slice(0, SHOWN).join(', ') + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '');
  const which = names.includes('*') ? 'Any name' : some;
  return (
    <Stack gap={2}>
      {kind !== 'master' && (
        <Text size="sm" title={names.length > SHOWN ? names.join(', ') : undefined}>
          {which}
          {projectSlug !== null && (
            <Text span inherit c="dimmed">
              {' '}
              in {projectSlug}
            </Text>
          )}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {limitsText(token)}
      </Text>
    </Stack>
  );
}

export function SpendCell({ token }: CellProps) {
  const { monthlyBudgetUsdCents: cap, spentUsdCents: spent } = token;
  if (cap === 0) return <StateBadge tone="bad">Blocked</StateBadge>;
  const part = spentPart(token);
  if (cap === null || part === undefined) return <span className="culvert-number">{moneyText(spent)}</span>;
  return (
    <Stack gap={4} miw={120}>
      <Text size="sm" className="culvert-number">
        {moneyText(spent)}{' '}
        <Text span inherit c="dimmed">
          of {moneyText(cap)}
        </Text>
      </Text>
      <Progress
        value={part}
        size="sm"
        color={barColor(part)}
        aria-label={`${Math.floor(part)} % of the budget of ${token.name} is spent`}
      />
      {part >= 100 && (
        <Text size="xs" c="red.8">
          Cap reached
        </Text>
      )}
    </Stack>
  );
}

/** What it serves now, or when and from where it was used last. */
export function UseCell({ token }: CellProps) {
  const serves = servingText(token);
  return (
    <Stack gap={2}>
      {serves === undefined ? (
        <Text size="sm" span>
          <Ago at={token.lastUsedAt} />
        </Text>
      ) : (
        <StateBadge tone="good">{serves}</StateBadge>
      )}
      {token.lastUsedIp !== null && (
        <Text size="xs" c="dimmed">
          from <span className="culvert-mono">{token.lastUsedIp}</span>
        </Text>
      )}
    </Stack>
  );
}

export function EndCell({ token }: CellProps) {
  const state = stateOf(token, nowSeconds());
  const { replacedBy } = token;
  if (state === 'revoked') return <StateBadge tone="quiet">Revoked</StateBadge>;
  if (state === 'expired')
    return (
      <Text size="sm" c="dimmed">
        Expired <Ago at={token.expiresAt} />
      </Text>
    );
  if (state === 'replaced')
    return replacedBy === null ? (
      <Stack gap={2}>
        <StateBadge tone="warn">Expires soon</StateBadge>
        <Text size="xs" c="dimmed">
          with its master key, <Ago at={token.graceEndsAt} />
        </Text>
      </Stack>
    ) : (
      <Stack gap={2}>
        <StateBadge tone="info">Replaced</StateBadge>
        <Text size="xs" c="dimmed">
          by <span className="culvert-mono">{idOf({ nonce: replacedBy })}</span>, still works, expires{' '}
          <Ago at={token.graceEndsAt} />
        </Text>
      </Stack>
    );
  return (
    <Group gap={6}>
      <Ago at={token.expiresAt} />
      {state === 'ending' && <StateBadge tone="warn">Expires soon</StateBadge>}
    </Group>
  );
}

/** The words beside the bar say the same. */
function barColor(part: number): string {
  if (part >= 100) return 'red.8';
  return part >= 80 ? 'yellow.6' : 'culvert.7';
}
