package sqldb_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"testing/fstest"

	"stet/audit/sqldb"
)

func TestOpenMigratesAndRefusesANewerSchema(t *testing.T) {
	ctx := t.Context()
	for _, name := range []string{"plain.db", "with space & ? # %.db"} {
		path := filepath.Join(t.TempDir(), name)
		db, err := sqldb.Open(ctx, path)
		if err != nil {
			t.Fatalf("open %q: %v", name, err)
		}
		two := fstest.MapFS{
			"00001_a.sql": {Data: []byte("-- +goose Up\ncreate table a (id integer primary key);\n")},
			"00002_b.sql": {Data: []byte("-- +goose Up\ncreate table b (id integer primary key);\n")},
		}
		if v, err := db.Migrate(ctx, two); err != nil || v != 2 {
			t.Fatalf("migrate: version %d, %v", v, err)
		}
		one := fstest.MapFS{"00001_a.sql": two["00001_a.sql"]}
		if _, err := db.Migrate(ctx, one); err == nil {
			t.Error("an older program was let onto a newer schema")
		}
		if err := db.InTx(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "insert into a values (1)")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var mode string
		var sync int
		if err := db.Write.QueryRowContext(ctx, "pragma journal_mode").Scan(&mode); err != nil || mode != "wal" {
			t.Errorf("journal_mode %q, %v", mode, err)
		}
		if err := db.Write.QueryRowContext(ctx, "pragma synchronous").Scan(&sync); err != nil || sync != 2 {
			t.Errorf("synchronous %d, %v, want 2 (FULL)", sync, err)
		}
		if _, err := db.Read.ExecContext(ctx, "insert into a values (2)"); err == nil {
			t.Error("a reading connection wrote")
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
