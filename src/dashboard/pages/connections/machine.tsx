/** A machine as its agent calls it, and a second line about it. */
import { Text } from '@mantine/core';

export function Machine({ hostname, below }: { readonly hostname: string; readonly below?: string | undefined }) {
  return (
    <div className="culvert-wrap">
      <Text span size="sm" fw={500}>
        {hostname === '' ? 'unnamed' : hostname}
      </Text>
      {below !== undefined && (
        <Text size="xs" c="dimmed">
          {below}
        </Text>
      )}
    </div>
  );
}
