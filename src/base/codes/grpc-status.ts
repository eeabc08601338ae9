/** Status codes of gRPC by their numbers, as `grpc-status` says them. Plain data, which a browser can load. */
const NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

/** `14 UNAVAILABLE`; a number that gRPC does not know stands alone. */
export function grpcStatusText(status: number): string {
  const name = NAMES[status];
  return name === undefined ? String(status) : `${status} ${name}`;
}
