CREATE TABLE `pending_work` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`scope` text NOT NULL,
	`org_id` text NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`details` text NOT NULL,
	`cursor` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `pending_work_scope` ON `pending_work` (`scope`);--> statement-breakpoint
CREATE INDEX `pending_work_org` ON `pending_work` (`org_id`,`id`);--> statement-breakpoint
CREATE TABLE `counters` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL
);
