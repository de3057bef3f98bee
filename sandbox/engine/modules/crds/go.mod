// Nothing is compiled here. go.sum beside this file holds the sums of the modules whose custom resource definitions the
// sandbox installs; the table in versions.py names them. They are not required together, for then Go would choose other versions.
module lantau/sandbox/crds

go 1.26.0
