/** The content of a query: a placeholder, a failure, or the data. */
import { Alert, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { failureFrom } from '../api/failure.ts';

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>;
  readonly children: (data: T) => ReactNode;
  /** Lines of the placeholder. */
  readonly lines?: number;
}

/** Earlier data stays while it is refetched; a failure is shown above it. */
export function Loaded<T>({ query, children, lines = 4 }: LoadedProps<T>) {
  if (query.data !== undefined)
    return (
      <>
        {query.isError && <FailureAlert error={query.error} again={query.refetch} />}
        {children(query.data)}
      </>
    );
  if (query.isError) return <FailureAlert error={query.error} again={query.refetch} />;
  return (
    <Stack gap="sm" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={36} />
      ))}
    </Stack>
  );
}

/** `again`: tries once more. */
export function FailureAlert({ error, again }: { readonly error: unknown; readonly again?: () => unknown }) {
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} role="alert" variant="light">
      <Group justify="space-between" gap="sm">
        <Text size="sm">{failureFrom(error).message}</Text>
        {again !== undefined && (
          <Button size="xs" variant="default" onClick={() => void again()}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}
