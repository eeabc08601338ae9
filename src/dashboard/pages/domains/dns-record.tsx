/** A record of the DNS, each part with a button that copies it: providers ask for them in fields of their own. */
import { Code, Group, Stack, Text } from '@mantine/core';
import { CopyIcon } from '../../parts/copy.tsx';

interface DnsRecordProps {
  readonly type: string;
  readonly name: string;
  readonly value: string;
}

export function DnsRecord({ type, name, value }: DnsRecordProps) {
  return (
    <Stack gap={4} maw={680} role="group" aria-label={`${type} record`}>
      <Line title="Type" value={type} />
      <Line title="Name" value={name} what={`the name of the ${type} record`} />
      <Line title="Value" value={value} what={`the value of the ${type} record`} />
      <Text size="xs" c="dimmed">
        If your DNS provider appends the zone to names, enter only the part before the zone.
      </Text>
    </Stack>
  );
}

interface LineProps {
  readonly title: string;
  readonly value: string;
  readonly what?: string;
}

function Line({ title, value, what }: LineProps) {
  return (
    <Group gap="xs" wrap="nowrap" mih={30}>
      <Text size="sm" c="dimmed" w={48} flex="none">
        {title}
      </Text>
      <Code className="culvert-copy-text">{value}</Code>
      {what !== undefined && <CopyIcon value={value} what={what} />}
    </Group>
  );
}
