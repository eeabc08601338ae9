CREATE TABLE `latency_buckets` (
	`scope_id` text NOT NULL,
	`width_seconds` integer NOT NULL,
	`starts_at` integer NOT NULL,
	`first_byte` blob NOT NULL,
	`total` blob NOT NULL,
	`status_1xx` integer NOT NULL,
	`status_2xx` integer NOT NULL,
	`status_3xx` integer NOT NULL,
	`status_4xx` integer NOT NULL,
	`status_5xx` integer NOT NULL,
	`canceled` integer NOT NULL,
	`bytes_in` integer NOT NULL,
	`bytes_out` integer NOT NULL,
	`connections` integer NOT NULL,
	PRIMARY KEY(`scope_id`, `width_seconds`, `starts_at`)
);
--> statement-breakpoint
CREATE INDEX `latency_buckets_past` ON `latency_buckets` (`width_seconds`,`starts_at`);